"""Wrong: the number of pages is rounded down, so the last, partly filled page is not counted."""

from flask import Flask, abort, request
from werkzeug.exceptions import HTTPException

DEFAULT_PER_PAGE = 10
MAX_PER_PAGE = 25

app = Flask(__name__)
articles = [{"id": number, "title": f"Article {number}"} for number in range(1, 58)]


@app.errorhandler(HTTPException)
def answer_error_as_json(error):
    return {"error": error.description}, error.code


def positive_number(name, default):
    text = request.args.get(name, str(default))
    try:
        number = int(text)
    except ValueError:
        abort(400, f"The parameter {name} must be a whole number.")
    if number < 1:
        abort(400, f"The parameter {name} must be at least 1.")
    return number


@app.get("/articles")
def list_articles():
    page = positive_number("page", 1)
    per_page = min(positive_number("per_page", DEFAULT_PER_PAGE), MAX_PER_PAGE)
    start, end = (page - 1) * per_page, page * per_page
    return {
        "items": articles[start:end],
        "page": page,
        "per_page": per_page,
        "total": len(articles),
        "pages": len(articles) // per_page,
        "prev": page - 1 if page > 1 else None,
        "next": page + 1 if end < len(articles) else None,
    }


@app.get("/articles/<int:article_id>")
def show_article(article_id):
    article = next((article for article in articles if article["id"] == article_id), None)
    if article is None:
        abort(404, f"There is no article {article_id}.")
    return article
