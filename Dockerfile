# One image for every part: `apprentice api` (which serves the console too) and `apprentice worker`.
FROM python:3.11.14-slim-bookworm AS build
WORKDIR /src
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
COPY requirements.lock ./
COPY docker/requirements.lock docker/requirements.lock
RUN python -m venv /build && /build/bin/pip install --require-hashes -r requirements.lock \
 && python -m venv /opt/apprentice && /opt/apprentice/bin/pip install --require-hashes -r docker/requirements.lock
COPY . .
RUN /build/bin/pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
 && /opt/apprentice/bin/pip install --no-deps /wheels/*.whl

FROM python:3.11.14-slim-bookworm
COPY --from=build /opt/apprentice /opt/apprentice
RUN useradd --uid 10001 --create-home apprentice && install -d -m 0700 -o apprentice -g apprentice /data
ENV PATH=/opt/apprentice/bin:$PATH PYTHONUNBUFFERED=1 APPRENTICE_DATA_DIR=/data APPRENTICE_LOG_FORMAT=json
USER apprentice
WORKDIR /home/apprentice
VOLUME /data
ENTRYPOINT ["apprentice"]
CMD ["api"]
