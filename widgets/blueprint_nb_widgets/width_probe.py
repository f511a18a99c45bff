"""Tells Python how wide the charts' place is, so that they are drawn for it instead of being scaled."""

from __future__ import annotations

import anywidget
import traitlets

_STEP_PIXELS = 10


class WidthProbe(anywidget.AnyWidget):
    """Invisible. `width` is in CSS pixels, rounded down to tens; 0 until a browser shows it."""

    _esm = f"""
    function render({{ model, el }}) {{
      const observer = new ResizeObserver(([entry]) => {{
        const width = Math.floor(entry.contentRect.width / {_STEP_PIXELS}) * {_STEP_PIXELS};
        if (width > 0 && width !== model.get("width")) {{
          model.set("width", width);
          model.save_changes();
        }}
      }});
      observer.observe(el);
      return () => observer.disconnect();
    }}
    export default {{ render }};
    """
    width = traitlets.Int(0).tag(sync=True)
