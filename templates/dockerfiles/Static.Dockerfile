# A site that Node.js builds and nginx serves.
FROM node:22-bookworm-slim AS build
WORKDIR /site
COPY package.json package-lock.json ./
RUN npm ci
COPY . .
# Change `dist` to the folder that your build writes.
RUN npm run build

# This nginx runs as its own user, on a port that needs no privilege.
FROM nginxinc/nginx-unprivileged:stable
COPY --from=build /site/dist /usr/share/nginx/html
EXPOSE 8080
