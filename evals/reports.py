"""Invented yearly reports: long PDFs with prose and tables, and questions whose page is known.

A page is about one subject at one site in one year. A site belongs to one company, so that a question names its page
exactly. Each site has 15 pages: its name alone does not bring the right one among five hits.
The seed is fixed: each run writes the same reports.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from evals.papers import Page, write_pdf

SEED = 20
COMPANIES = (
    "Aldermoor Cement", "Brightwater Foods", "Corvane Paper", "Duskfield Glass", "Elmstow Textiles", "Fennick Chemicals",
    "Garrow Timber", "Holloway Steel", "Innisbrook Dairy", "Jorvale Plastics", "Kestrel Batteries", "Larkspur Shipping",
)  # fmt: skip
FIRST_HALVES = (
    "Ash",
    "Birk",
    "Cold",
    "Dun",
    "East",
    "Fern",
    "Grim",
    "Hazel",
    "Iron",
    "Kirk",
    "Long",
    "Marsh",
)
SECOND_HALVES = (
    "bury",
    "combe",
    "dale",
    "ford",
    "gate",
    "ham",
    "hurst",
    "ley",
    "mere",
    "port",
    "stead",
    "wick",
)
YEARS = (2021, 2022, 2023)
QUARTERS = ("Q1", "Q2", "Q3", "Q4")
SITES = (2, 5)
"""The fewest and the most sites of a company: 31 to 76 pages."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A subject of a report: the labels of its table, its events, and questions in other words."""

    name: str
    labels: tuple[str, str, str]
    events: tuple[str, ...]
    table_questions: tuple[str, ...]
    event_question: str


SUBJECTS = (
    Subject(
        "Energy",
        ("Electricity drawn (MWh)", "Natural gas (MWh)", "Own solar output (MWh)"),
        (
            "a transformer failed in spring",
            "a kiln was rebuilt",
            "the night tariff ended",
            "a boiler was retired",
        ),
        (
            "How much electricity did {site} draw in {year}?",
            "power consumption of the {site} works {year}",
            "natural gas burned at {site} in {year}",
        ),
        "what changed the use of energy at {site} in {year}",
    ),
    Subject(
        "Water",
        ("Fresh water (m3)", "Waste water (m3)", "Reused water (m3)"),
        (
            "a well ran dry in August",
            "the settling basin was relined",
            "a leak stayed hidden for weeks",
            "the river was too warm",
        ),
        (
            "How much fresh water was taken at {site} in {year}?",
            "sewage leaving {site} during {year}",
            "cubic metres of water used again, {site} {year}",
        ),
        "which trouble with water did {site} have in {year}",
    ),
    Subject(
        "People",
        ("Employees at year end", "Trainees", "Hours of training"),
        (
            "the night shift was given up",
            "a works council was elected",
            "a canteen was opened",
            "forty people moved to another site",
        ),
        (
            "How many employees had {site} at the end of {year}?",
            "size of the workforce in {site}, {year}",
            "apprentices at {site} in {year}",
        ),
        "what happened to the staff of {site} in {year}",
    ),
    Subject(
        "Safety",
        ("Accidents with lost days", "Near misses", "Safety walks"),
        (
            "a forklift hit a rack",
            "new guards were fitted to the presses",
            "an acid spill closed a hall",
            "the fire brigade trained on site",
        ),
        (
            "How many accidents with lost days were there at {site} in {year}?",
            "injuries that kept people from work, {site} {year}",
            "close calls reported in {site} in {year}",
        ),
        "which incident or measure of safety is reported from {site} in {year}",
    ),
    Subject(
        "Output",
        ("Goods made (t)", "Rejects (t)", "Days of standstill"),
        (
            "the second line was out for a month",
            "a mould broke twice",
            "a large customer left",
            "raw material came late",
        ),
        (
            "How many tonnes of goods did {site} make in {year}?",
            "production volume of {site} in {year}",
            "how long did {site} stand still in {year}",
        ),
        "why did production at {site} change in {year}",
    ),
)


@dataclass(frozen=True, slots=True)
class SubjectPage:
    """The page of a subject at a site in a year."""

    site: str
    subject: Subject
    year: int
    page: int


@dataclass(frozen=True, slots=True)
class Report:
    """A report: its file name, its pages and its content."""

    path: str
    pages: int
    content: bytes


@dataclass(frozen=True, slots=True)
class ReportQuestion:
    """A question and the page that answers it."""

    text: str
    path: str
    page: int


def make_reports() -> tuple[list[Report], list[ReportQuestion]]:
    """Return the reports and their questions, the same at each call."""
    random_source = random.Random(SEED)  # noqa: S311 (invented figures, no secret)
    sites = [first + second for first in FIRST_HALVES for second in SECOND_HALVES]
    random_source.shuffle(sites)
    reports, questions = [], []
    for company in COMPANIES:
        count = random_source.randint(*SITES)
        own_sites, sites = sites[:count], sites[count:]
        path = company.lower().replace(" ", "-") + "-2023.pdf"
        pages = [opening_page(company, own_sites)]
        placed = []
        for site in own_sites:
            for subject, year in product(SUBJECTS, YEARS):
                pages.append(subject_page(site, subject, year, random_source))
                placed.append(SubjectPage(site, subject, year, len(pages)))
        content = write_pdf(f"{company}: report on the year 2023", pages)
        reports.append(Report(path, len(pages), content))
        questions += ask_about(path, placed, random_source)
    return reports, questions


def opening_page(company: str, sites: Sequence[str]) -> Page:
    """Return the first page, which names the sites and no figure."""
    text = f"{company} reports on its sites {', '.join(sites)}. Each has a page on every subject and year."
    return Page("About this report", [text])


def subject_page(site: str, subject: Subject, year: int, random_source: random.Random) -> Page:
    """Return the page of a subject at a site in a year."""
    event, other = random_source.sample(subject.events, 2)
    prose = [
        f"This page covers {subject.name.lower()} at {site} in {year}. In the first half {event}. "
        f"The management of {site} had expected a quiet year and changed its plan in the second quarter.",
        f"In the second half {other}. The figures below were checked by the controllers and compared with the "
        "meters and lists on site. Differences of less than one percent were left as they are.",
    ]
    table: list[tuple[str, ...]] = [(str(year), *QUARTERS)]
    for label in subject.labels:
        figure = random_source.randint(20, 9000)
        changes = [random_source.uniform(0.8, 1.2) for _ in QUARTERS]
        table.append((label, *(f"{figure * change:,.0f}" for change in changes)))
    return Page(f"{subject.name} at {site}, {year}", prose, table)


def ask_about(
    path: str, placed: Sequence[SubjectPage], random_source: random.Random
) -> list[ReportQuestion]:
    """Return six questions about pages of one report: four of figures and two of events."""
    questions = []
    for number, place in enumerate(random_source.sample(list(placed), 6)):
        if number < 4:
            form = random_source.choice(place.subject.table_questions)
        else:
            form = place.subject.event_question
        text = form.format(site=place.site, year=place.year)
        questions.append(ReportQuestion(text, path, place.page))
    return questions
