# A Python service with its dependencies in requirements.txt.
FROM python:3.13-slim AS build
# An environment of its own can be copied as a whole.
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt

FROM python:3.13-slim
# Output at once, and no compiled files beside the sources.
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --uid 10001 app
WORKDIR /app
COPY --from=build /venv /venv
COPY . .
USER app
EXPOSE 8000
# Change this to what starts yours.
CMD ["python", "-m", "app"]
