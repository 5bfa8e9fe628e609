"""Log records as one JSON object a line, so that a name with a line break cannot forge a record."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime


class LineFormatter(logging.Formatter):
    """One record, one line: time, level, logger, message and, after a failure, its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at": datetime.fromtimestamp(record.created, tz=UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)
