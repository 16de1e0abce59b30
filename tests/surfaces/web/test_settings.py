"""Settings in a browser: values with origin and help, written back with their comments, keys."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from ragstone.access.key_uses import KeyUses
from tests.support.browser import PageRecord, find_barriers, open_page, take_screenshots
from tests.support.running_server import RunningServer, running_server

FILE = "# ours\n[search]\ntop_k = 5  # enough\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """Serve a folder with a settings file and one document."""
    (tmp_path / "ragstone.toml").write_text(FILE)
    with running_server(tmp_path) as running:
        running.state.engines.own.add("A slab weighs 90 kg.", uri="slab.md", embed=False)
        yield running


@pytest.fixture
def opened(browser: Browser, server: RunningServer) -> Iterator[tuple[Page, PageRecord]]:
    """Open a page on the server of this test."""
    with open_page(browser, server.url) as pair:
        yield pair


def test_a_setting_shows_its_value_origin_and_help(page: Page) -> None:
    page.goto("/settings?q=search.top_k")
    setting = page.locator("li.setting").first
    expect(setting.get_by_label("search.top_k", exact=True)).to_have_value("5")
    expect(setting).to_contain_text("ragstone.toml")
    expect(setting).to_contain_text("RAGSTONE_SEARCH_TOP_K")
    page.goto("/settings")
    take_screenshots(page, "settings")
    assert find_barriers(page) == []


def test_a_change_is_written_and_comments_stay(page: Page, tmp_path: Path) -> None:
    page.goto("/settings?q=search.top_k")
    page.get_by_label("search.top_k", exact=True).fill("8")
    page.get_by_role("button", name="Save search.top_k").click()
    expect(page.get_by_text("Wrote search.top_k to ragstone.toml")).to_be_visible()
    written = (tmp_path / "ragstone.toml").read_text()
    assert written == FILE.replace("top_k = 5", "top_k = 8")
    assert page.url.endswith("/settings?q=search.top_k")
    setting = page.locator("li.setting").first
    expect(setting.get_by_label("search.top_k", exact=True)).to_have_value("8")
    expect(setting).to_contain_text("in use: 5, until the restart")
    page.get_by_label("search.top_k", exact=True).fill("")
    page.get_by_role("button", name="Save search.top_k").click()
    expect(page.get_by_text("Removed search.top_k from ragstone.toml")).to_be_visible()


def test_a_file_that_is_wrong_by_now_is_named(page: Page, tmp_path: Path) -> None:
    (tmp_path / "ragstone.toml").write_text("[search]\ntop_k = 'many'\n")
    page.goto("/settings?q=search.top_k")
    expect(page.get_by_role("alert")).to_contain_text("search.top_k")
    expect(page.get_by_label("search.top_k", exact=True)).to_have_value("5")


def test_a_change_that_costs_work_says_so_first(
    page: Page, tmp_path: Path, server: RunningServer
) -> None:
    (tmp_path / "long.md").write_text("# Stones\n\n" + "A stone is heavy. " * 200)
    server.state.engines.own.sync()
    page.goto("/settings?q=chunk.max_tokens")
    page.get_by_label("chunk.max_tokens", exact=True).fill("100")
    page.get_by_role("button", name="Save chunk.max_tokens").click()
    cost = page.locator(".setting-plan")
    expect(cost).to_contain_text("chunk.max_tokens = 100")
    expect(cost).to_contain_text("1 file, ")
    expect(cost).to_contain_text("tokens")
    expect(cost).to_contain_text("no money")
    assert find_barriers(page) == []
    take_screenshots(page, "settings-cost")
    page.get_by_role("button", name="Keep the old value").click()
    expect(cost).to_have_count(0)
    assert (tmp_path / "ragstone.toml").read_text() == FILE
    page.get_by_label("chunk.max_tokens", exact=True).fill("100")
    page.get_by_role("button", name="Save chunk.max_tokens").click()
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("Wrote chunk.max_tokens")).to_be_visible()
    assert "max_tokens = 100" in (tmp_path / "ragstone.toml").read_text()


def test_a_paid_model_is_shown_with_its_price(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    server.state.engines.own.add("A stone is heavy. " * 100, uri="long.md", embed=False)
    plan = server.state.engines.own.admin.plan(changes={"embed.provider": "openai"})
    assert plan.embedder == "openai" and plan.texts >= 2 and plan.tokens > 200
    assert plan.cost is not None and plan.cost > 0
    assert server.state.engines.own.admin.plan().embedder == "fake"


def test_a_plan_of_other_settings_is_refused(server: RunningServer) -> None:
    token = server.state.engines.own.admin.keys.create(scopes=("admin",)).token
    form = {"name": "store.url", "value": "postgresql://elsewhere/x"}
    answer = server.request("POST", "/settings/plan", key=token, data=form)
    assert answer.status_code == 400 and "causes no work" in answer.text


def test_sections_can_be_reached_from_a_list(page: Page) -> None:
    page.goto("/settings")
    sections = page.get_by_role("navigation", name="Sections")
    sections.get_by_role("link", name="events").click()
    expect(page.locator("[id='section-events']")).to_be_in_viewport()
    expect(sections.get_by_role("link", name="search").first).to_contain_text("2")


def test_a_key_shows_when_it_was_last_used(server: RunningServer, tmp_path: Path) -> None:
    keys = server.state.engines.own.admin.keys
    admin = keys.create("desk", scopes=("admin",))
    keys.create("spare", scopes=("read",))
    server.get("/api/rag/status", key=admin.token)
    page = server.get("/settings?q=nothing", key=admin.token).text
    desk, spare = (page.partition(f">{name}</th>")[2][:400] for name in ("desk", "spare"))
    assert "just now" in desk and "never" in spare
    server.state.key_uses.flush()
    assert admin.key.id in KeyUses(server.state.engines.settings.home).times()


def test_a_setting_goes_back_to_its_default(page: Page, tmp_path: Path) -> None:
    page.goto("/settings?q=search.top_k")
    setting = page.locator("li.setting").first
    expect(setting).to_contain_text("Default: 5.")
    page.get_by_role("button", name="Use the default of search.top_k").click()
    expect(page.locator("#toasts")).to_contain_text("The server uses this value.")
    assert "top_k" not in (tmp_path / "ragstone.toml").read_text()
    expect(setting.get_by_role("button", name="Use the default")).to_have_count(0)
    page.get_by_label("search.top_k", exact=True).fill("")
    expect(page.get_by_label("search.top_k", exact=True)).to_have_attribute(
        "placeholder", "default: 5"
    )


def test_a_default_that_costs_work_says_so_first(page: Page, tmp_path: Path) -> None:
    (tmp_path / "ragstone.toml").write_text("[chunk]\nmax_tokens = 100\n")
    page.goto("/settings?q=chunk.max_tokens")
    expect(page.get_by_text("If you change this, the next sync")).to_be_visible()
    page.get_by_role("button", name="Use the default of chunk.max_tokens").click()
    expect(page.locator(".setting-plan")).to_contain_text("chunk.max_tokens = the default")
    page.get_by_role("button", name="Change it").click()
    expect(page.get_by_text("Removed chunk.max_tokens")).to_be_visible()
    assert not (tmp_path / "ragstone.toml").exists()


def test_a_setting_is_found_by_any_word_of_its_help(server: RunningServer) -> None:
    token = server.state.engines.own.admin.keys.create(scopes=("admin",)).token
    assert 'id="search.top_k"' in server.get("/settings?q=number+of+hits", key=token).text
    assert "No setting fits" in server.get("/settings?q=marzipan", key=token).text


def test_the_section_that_was_chosen_is_marked_also_at_the_end(page: Page) -> None:
    page.goto("/settings")
    sections = page.get_by_role("navigation", name="Sections")
    for name in ("Keys", "Use"):
        sections.get_by_role("link", name=name, exact=True).click()
        expect(sections.get_by_role("link", name=name, exact=True)).to_have_attribute(
            "aria-current", "location"
        )


def test_a_wrong_value_gets_one_sentence(
    page: Page, record: PageRecord, tmp_path: Path
) -> None:
    page.goto("/settings?q=search.top_k")
    page.get_by_label("search.top_k", exact=True).fill("many")
    page.get_by_role("button", name="Save search.top_k").click()
    expect(page.locator("#toasts")).to_contain_text("search.top_k must be a whole number")
    value = page.get_by_label("search.top_k", exact=True)
    expect(value).to_have_attribute("aria-invalid", "true")
    value.fill("7")
    expect(value).not_to_have_attribute("aria-invalid", "true")
    assert (tmp_path / "ragstone.toml").read_text() == FILE
    record.console_errors.clear()


def test_secrets_and_addresses_cannot_be_written(page: Page) -> None:
    page.goto("/settings?q=embed.url")
    expect(page.get_by_label("embed.url", exact=True)).to_be_disabled()
    expect(page.get_by_text("only in your user file")).to_be_visible()


def test_keys_and_changed_settings_fit_a_phone(page: Page, server: RunningServer) -> None:
    keys = server.state.engines.own.admin.keys
    token = keys.create("the laptop of the workshop", scopes=("read", "write", "admin")).token
    page.set_extra_http_headers({"authorization": f"Bearer {token}"})
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/settings")
    expect(page.get_by_role("row", name="the laptop")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_key_is_made_shown_once_and_revoked(
    page: Page, record: PageRecord, server: RunningServer
) -> None:
    page.goto("/settings?q=nothing-like-this")
    page.get_by_label("Name of the key").fill("laptop")
    expect(page.get_by_label("May")).to_have_value("admin")
    page.get_by_role("button", name="Create key").click()
    expect(page.locator("#confirm")).to_contain_text("every caller needs one")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.locator("#new-key")).to_contain_text("not shown again")
    token = page.locator("#new-key code").inner_text()
    keys = server.state.engines.own.admin.keys
    assert [key.name for key in keys.list()] == ["laptop"]
    answer = server.get("/api/rag/status", headers={"authorization": f"Bearer {token}"})
    assert answer.status_code == 200
    expect(page.locator("#stored-keys")).to_contain_text("1 key, newest first")
    page.get_by_role("button", name="I have copied it").click()
    expect(page.locator("#new-key")).to_be_empty()
    assert page.url.endswith("q=nothing-like-this")
    page.get_by_role("button", name="Revoke laptop").click()
    dialog = page.locator("#confirm")
    expect(dialog).to_contain_text("the last one that may administer")
    expect(dialog).to_contain_text("you will be signed out")
    expect(dialog.locator("code")).to_have_text("ragstone keys create --scope admin")
    take_screenshots(page, "settings-revoke")
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_label("Key", exact=True)).to_be_visible()
    expect(page.locator(".field-hint code")).to_have_text("ragstone keys create --scope admin")
    record.console_errors.clear()


def test_a_key_that_may_not_administer_says_why_settings_are_fixed(
    page: Page, server: RunningServer
) -> None:
    key = server.state.engines.own.admin.keys.create("reader", scopes=("read", "write"))
    page.set_extra_http_headers({"authorization": f"Bearer {key.token}"})
    page.goto("/settings")
    keys = page.get_by_role("region", name="Keys")
    expect(keys).to_contain_text("may not administer")
    expect(keys.locator("code")).to_have_text("ragstone keys create --scope admin")


def test_a_new_key_is_the_first_of_the_list(page: Page, server: RunningServer) -> None:
    keys = server.state.engines.own.admin.keys
    token = keys.create("desk", scopes=("admin",)).token
    page.set_extra_http_headers({"authorization": f"Bearer {token}"})
    page.goto("/settings?q=nothing-like-this")
    page.get_by_label("Name of the key").fill("laptop")
    page.get_by_role("button", name="Create key").click()
    expect(page.locator("#stored-keys")).to_contain_text("2 keys")
    expect(page.locator("#stored-keys tbody th").first).to_have_text("laptop")
    expect(page.get_by_role("button", name="Revoke desk")).to_be_visible()
    take_screenshots(page, "settings-keys")


def test_a_key_without_a_name_is_refused_before_the_question(
    page: Page, server: RunningServer
) -> None:
    page.goto("/settings?q=nothing-like-this")
    page.get_by_role("button", name="Create key").click()
    expect(page.locator("#confirm")).to_be_hidden()
    token = server.state.engines.own.admin.keys.create(scopes=("admin",)).token
    answer = server.request("POST", "/settings/keys", key=token, data={"name": " "})
    assert answer.status_code == 400 and "has no name" in answer.text
