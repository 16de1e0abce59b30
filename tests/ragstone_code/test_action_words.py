from __future__ import annotations

import pytest

from ragstone_code.descriptions import action_words
from ragstone_code.django import Django
from tests.ragstone_code.small_world import world_of


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("remove_check", "delete, remove"),
        ("postAdd", "create, add, make, save a new"),
        ("showUploadForm", "show, view, see, get, upload, import"),
        ("handle", ""),
    ],
)
def test_verbs_of_a_name_become_the_words_that_people_use(name: str, words: str) -> None:
    assert action_words(name) == words


def test_a_view_for_any_method_is_described_by_the_verb_of_its_name() -> None:
    files = {
        "manage.py": 'import os\nos.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")\n',
        "settings.py": 'ROOT_URLCONF = "urls"\nINSTALLED_APPS = []\n',
        "urls.py": "from django.urls import path\nimport views\n"
        'urlpatterns = [path("checks/x/", views.remove_check)]\n',
        "views.py": "def remove_check(request):\n    return None\n",
    }
    texts = [
        text.words for text in Django().read(world_of(files)).rendered if text.kind == "route"
    ]
    assert "delete, remove" in texts[0]
