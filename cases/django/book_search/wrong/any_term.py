"""Wrong: a book is found as soon as one of the terms matches."""

from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.http import require_safe

MAX_TERMS = 8
BOOKS = [
    {"id": 1, "title": "Dune", "author": "Frank Herbert"},
    {"id": 2, "title": "The Dosadi Experiment", "author": "Frank Herbert"},
    {"id": 3, "title": "Frank and the Desert", "author": "Ana Silva"},
    {"id": 4, "title": "C++ in 100% Plain Words", "author": "Ana Silva"},
    {"id": 5, "title": "Élan Vital", "author": "Zoë Ørsted"},
]


def matches(book: dict, terms: list[str]) -> bool:
    title, author = book["title"].casefold(), book["author"].casefold()
    return not terms or any(term in title or term in author for term in terms)


@require_safe
def books(request: HttpRequest) -> JsonResponse:
    terms = request.GET.get("search", "").casefold().split()
    if len(terms) > MAX_TERMS:
        return JsonResponse({"error": "too many terms"}, status=400)
    found = [book for book in BOOKS if matches(book, terms)]
    return JsonResponse({"count": len(found), "results": found})


urlpatterns = [path("books/", books)]
