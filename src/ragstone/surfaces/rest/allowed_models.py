"""Which embedders and rerankers a caller may choose: the owner of the server pays for them."""

from __future__ import annotations

from ragstone.errors import AccessError
from ragstone.surfaces.rest.authorised_route import Call


def check_models(call: Call, *names: str | None) -> None:
    """Raise `AccessError` if a key without `admin` chooses a model that the settings do not name."""
    if call.identity.allows("admin"):
        return
    settings = call.server.engines.settings
    embed = settings.embed
    configured = {embed.provider, f"{embed.provider}:{embed.model}", embed.fallback}
    for name in names:
        if name is not None and name not in configured.union(settings.server.models):
            raise AccessError(
                f"the key may not choose the model {name[:100]!r}",
                hint="leave it out, or add the name to the setting server.models",
            )
