"use strict";

const token = document.getElementById("token");
const wait = document.getElementById("wait");
const READS = ["GET", "HEAD"];

// The token stays in this page: it is not stored, and closing the tab forgets it.
function withAccess(request) {
  if (request.loadSpec) return request;
  if (token.value.trim()) request.headers["Authorization"] = `Bearer ${token.value.trim()}`;
  if (wait.checked && !READS.includes(request.method.toUpperCase())) request.headers["Prefer"] = "wait=10";
  return request;
}

SwaggerUIBundle({
  url: "/openapi.json",
  dom_id: "#calls",
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  requestInterceptor: withAccess,
});

document.getElementById("access").addEventListener("submit", (event) => event.preventDefault());
