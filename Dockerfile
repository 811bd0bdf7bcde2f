# The sidecar without an embedded engine: `serve`, `worker`, and the sandbox provider.
# Two stages: what builds does not ship. The lock file gives every version; it also lists the tools
# of development and the embedded ClickHouse, which are left out here.
FROM python:3.11.11-slim-bookworm AS build
WORKDIR /src
COPY requirements.lock .
RUN python -m venv /opt/outlive \
    && sed -e '/--hash=/d' -e 's/ *\\$//' requirements.lock > constraints.txt \
    && /opt/outlive/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
        --constraint constraints.txt setuptools
COPY pyproject.toml README.md LICENSE ./
COPY ledger ledger
COPY dispatcher dispatcher
COPY recovery recovery
COPY telemetry telemetry
COPY sidecar sidecar
COPY sandbox sandbox
RUN /opt/outlive/bin/python -m pip install --no-cache-dir --disable-pip-version-check \
        --constraint constraints.txt --no-build-isolation .

FROM python:3.11.11-slim-bookworm
RUN groupadd --system --gid 10001 outlive \
    && useradd --system --uid 10001 --gid outlive --home-dir /state outlive \
    && install --directory --owner outlive --group outlive --mode 0700 /state /keys
COPY --from=build /opt/outlive /opt/outlive
ENV PATH=/opt/outlive/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    OUTLIVE_HOME=/state
USER 10001:10001
VOLUME ["/state", "/keys"]
EXPOSE 8787
STOPSIGNAL SIGTERM
ENTRYPOINT ["outlive"]
CMD ["serve", "--host", "0.0.0.0"]
