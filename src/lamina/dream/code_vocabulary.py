"""Word lists for recognising code in text, separate from the code that uses them."""

from __future__ import annotations

_BRANDS = """
    JavaScript TypeScript GitHub GitLab BitBucket PostgreSQL MySQL SQLite NoSQL GraphQL OpenAI LinkedIn YouTube iPhone
    iPad iOS macOS PowerShell PowerPoint NumPy SciPy PyTorch TensorFlow NodeJS NextJS VueJS MongoDB DynamoDB
    CoffeeScript WordPress DevOps OAuth WebSocket WebAssembly RabbitMQ eBay PayPal WhatsApp ChatGPT CircleCI FastAPI
"""
BRANDS = frozenset(_BRANDS.split())
"""Names with an inner capital that are not identifiers."""

_DOTTED_LIBRARIES = """
    node.js next.js vue.js nuxt.js react.js express.js three.js d3.js chart.js socket.io moment.js ember.js backbone.js
    angular.js solid.js alpine.js discord.js knockout.js require.js ext.js asp.net p5.js video.js
"""
DOTTED_LIBRARIES = frozenset(_DOTTED_LIBRARIES.split())
"""Libraries whose names look like file names."""

_PLACEHOLDERS = """
    foo bar baz qux xxx yyy zzz your yourname your-name your_name username user-name somewhere something myfile
    my-project my_project myproject your-project your_project example examplefile file.ext to
"""
PLACEHOLDERS = frozenset(_PLACEHOLDERS.split())
"""Names that stand for others: a path that contains one is a pattern (`path/to/file.py`)."""

_PACKAGE_MANAGER_COMMANDS = """
    add audit autoclean bin cache check config create dedupe deploy dlx exec fetch generate-lock-entry global help
    import info init install link list licenses login logout ls node outdated owner pack patch plugin policies prune
    publish rebuild remove run search set store tag team unlink uninstall unplug up update upgrade
    upgrade-interactive version versions view why workspace workspaces i rm un recursive root start-server setup env
"""
PACKAGE_MANAGER_COMMANDS = frozenset(_PACKAGE_MANAGER_COMMANDS.split())
"""Built-in commands of yarn and pnpm, which need no script of that name."""

_COMMON_PACKAGES = """
    django flask fastapi starlette uvicorn gunicorn celery requests httpx aiohttp urllib3 numpy pandas polars scipy
    matplotlib seaborn plotly scikit-learn xgboost torch pytorch tensorflow keras transformers sqlalchemy alembic
    psycopg psycopg2 asyncpg pymongo boto3 pydantic marshmallow attrs click typer rich jinja2 pytest hypothesis tox nox
    black ruff flake8 mypy pylint isort pillow beautifulsoup4 scrapy selenium playwright networkx spacy nltk gensim
    react react-dom preact vue nuxt svelte angular next express koa fastify nestjs lodash underscore axios jquery redux
    mobx zustand rxjs webpack vite rollup esbuild parcel babel eslint prettier jest vitest mocha chai cypress
    tailwindcss bootstrap styled-components socket.io mongoose sequelize typeorm prisma knex zod joi moment dayjs
    three d3 gin echo cobra viper gorm serde tokio actix rocket axum clap rayon hyper reqwest junit mockito hibernate
"""
COMMON_PACKAGES = frozenset(_COMMON_PACKAGES.split())
"""Packages so common that the bare name identifies them."""
