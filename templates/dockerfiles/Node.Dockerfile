# A Node.js service. Change the last line to the start command of yours.
FROM node:22-bookworm-slim AS build
WORKDIR /app
# Packages first: this layer stays cached until the lock file changes.
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
RUN npm run build --if-present && npm prune --omit=dev

FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=build --chown=node:node /app ./
# The image already has this user.
USER node
EXPOSE 3000
CMD ["node", "."]
