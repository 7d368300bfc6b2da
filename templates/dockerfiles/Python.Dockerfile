# A Python service with its dependencies in requirements.txt.
FROM python:3.13-slim AS build
# A separate environment can be copied as a whole.
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH
COPY requirements.txt ./
RUN pip install --no-cache-dir -r requirements.txt

FROM python:3.13-slim
# Unbuffered output, and no compiled files next to the sources.
ENV PATH=/venv/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
RUN useradd --system --uid 10001 app
WORKDIR /app
COPY --from=build /venv /venv
COPY . .
USER app
EXPOSE 8000
# Change this to the start command of your service.
CMD ["python", "-m", "app"]
