"""Every setting once. What differs between installations comes from environment variables."""

from __future__ import annotations

from pathlib import Path

from console import env

BASE_DIR = Path(__file__).resolve().parent.parent

DEBUG = env.flag("DEBUG")
# Only a developer's own machine runs without a key of its own; production has no default.
DEVELOPMENT_KEY = "development-only-" + "x" * 48 if DEBUG else None
SECRET_KEY = env.text("SECRET_KEY", DEVELOPMENT_KEY)
SECRET_KEY_FALLBACKS = env.words("SECRET_KEY_FALLBACKS")
# 32 random bytes each, URL-safe base64, with commas between: the first encrypts, all decrypt.
PILOTHOUSE_ENCRYPTION_KEYS = env.encryption_keys("PILOTHOUSE_ENCRYPTION_KEYS")
# `host:port` of registries that speak plain HTTP; every other registry has to speak HTTPS.
PILOTHOUSE_INSECURE_REGISTRIES = env.words("PILOTHOUSE_INSECURE_REGISTRIES")

ALLOWED_HOSTS = env.words("ALLOWED_HOSTS")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")
# Off only for `make up`, which serves plain HTTP on this machine alone.
HTTPS = env.flag("HTTPS", default=not DEBUG)
if env.flag("TRUST_FORWARDED_PROTO"):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "django_htmx",
    "django_linear_migrations",
    "pgtrigger",
    "template_partials",
    "deployments",
    "console",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "console.middleware.ContentSecurityPolicyMiddleware",
    "console.middleware.NoSuchMethodMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "console.middleware.LoginRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "console.urls"
WSGI_APPLICATION = "console.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]

DATABASES = {
    "default": env.database("DATABASE_URL")
    | {
        "CONN_MAX_AGE": None,
        "CONN_HEALTH_CHECKS": True,
        "OPTIONS": {
            # A statement, a lock or a forgotten transaction must not hold up everybody else.
            "options": "-c statement_timeout=5s -c lock_timeout=2s"
            " -c idle_in_transaction_session_timeout=10s",
        },
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "deployments.User"
AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator")
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "/"
ACCOUNT_ADAPTER = "console.accounts.ClosedAccountAdapter"
ACCOUNT_FORMS = {
    "login": "console.sign_in.SignIn",
    "change_password": "console.sign_in.ChangePassword",
}
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "password2*"]
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_ON_GET = False
# Failures wait longer and longer per person and per address; a whole office shares an address.
ACCOUNT_RATE_LIMITS: dict[str, str] | bool = {
    "login": "100/m/ip",
    "login_failed": "50/m/ip,5/5m/key",
}

LANGUAGE_CODE = "en"
USE_I18N = False
TIME_ZONE = "UTC"
USE_TZ = True

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
# `make up` serves straight from static/, so there is nothing to collect and nothing stale.
WHITENOISE_USE_FINDERS = env.flag("STATIC_FROM_SOURCE", default=DEBUG)
STATIC_ROOT = (
    None if WHITENOISE_USE_FINDERS else env.text("STATIC_ROOT", str(BASE_DIR / "var" / "static"))
)
WHITENOISE_AUTOREFRESH = False
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if WHITENOISE_USE_FINDERS
        else "whitenoise.storage.CompressedManifestStaticFilesStorage"
    },
}

REDIS_URL = env.text("REDIS_URL")

CELERY_BROKER_URL = env.broker(REDIS_URL)
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
# A worker that dies gives its task back: every task may run twice without harm.
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# For a worker with processes; the thread pool ignores it, so each look has a budget of its own.
CELERY_TASK_TIME_LIMIT = 60
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # Above every budget: else a task that is still at work is given to a second worker.
    "visibility_timeout": 120,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_timeout": 5,
    "socket_connect_timeout": 5,
    "health_check_interval": 15,
}
CELERY_TIMEZONE = "UTC"

SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 365 * 24 * 3600 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_NAME = "__Host-pilothouse" if HTTPS else "pilothouse"
CSRF_FAILURE_VIEW = "console.views.csrf_failure"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_NAME = "__Host-pilothouse-csrf" if HTTPS else "pilothouse-csrf"
DATA_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"lines": {"()": "console.logs.LineFormatter"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines"}},
    "root": {"handlers": ["stderr"], "level": env.text("LOG_LEVEL", "INFO")},
    # Django's own handler would print each record a second time.
    "loggers": {
        "django": {"handlers": [], "level": "INFO", "propagate": True},
        # A line for every tick would bury the others.
        "celery.app.trace": {"level": "WARNING"},
        "celery.beat": {"level": "WARNING"},
        "celery.worker.strategy": {"level": "WARNING"},
    },
}
