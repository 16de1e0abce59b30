"""Django's management commands and admin classes."""

from __future__ import annotations

from ragstone_code.django.model_classes import is_model
from ragstone_code.django.signals import link_models
from ragstone_code.graph_builder import GraphBuilder
from ragstone_code.python.values import CallResult, ClassValue, FunctionValue, Value
from ragstone_code.python_project import Program


def add_commands(program: Program, builder: GraphBuilder) -> None:
    """Add the management commands and link them to the models that they use."""
    for class_value in program.classes():
        folder, _, file_name = class_value.uri.rpartition("/")
        if class_value.definition.short != "Command" or not folder.endswith(
            "management/commands"
        ):
            continue
        command = file_name.removesuffix(".py")
        key = builder.add_class(class_value, "command", command=command)
        builder.add_alias(command, key, "command", class_value.uri)
        handle = class_value.attributes.get("handle")
        if isinstance(handle, FunctionValue):
            link_models(program, builder, handle, key)


def add_admin_classes(program: Program, builder: GraphBuilder) -> None:
    """Add the admin classes and link them to their models."""
    for call in list(program.interpreter.objects):
        admin_classes, models = _read_registration(call)
        for admin_class in admin_classes:
            key = builder.add_class(admin_class, "admin")
            for model in models:
                if is_model(model):
                    ends = (key, builder.add_class(model, "model"))
                    location = (call.uri, call.line)
                    builder.add_link(
                        "USES_MODEL",
                        ends,
                        location,
                        {"how": "admin"},
                        how="declared",
                    )


def _read_registration(call: CallResult) -> tuple[list[ClassValue], list[Value]]:
    """Return the admin classes and models of `@admin.register(...)` or `admin.site.register(...)`."""
    if call.callee.endswith("admin.register"):
        admin_classes = [value for value in call.applied if isinstance(value, ClassValue)]
        return admin_classes, call.args
    admin_class = call.argument(1, "admin_class")
    if not call.callee.endswith("admin.site.register") or not isinstance(
        admin_class, ClassValue
    ):
        return [], []
    models = call.argument(0, "model_or_iterable")
    if isinstance(models, list | tuple):
        return [admin_class], list(models)
    return [admin_class], [models]
