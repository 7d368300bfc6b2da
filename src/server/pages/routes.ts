// The pages of the product, one line for each file.
import type { FastifyPluginAsync } from 'fastify'
import { mergeRequestListPages } from './merge-requests/lists.js'
import { servePages } from './page-routes.js'
import { explorePages } from './people/explore.js'
import { previewPages } from './text/preview.js'

export const pageRoutes: FastifyPluginAsync = async app => {
  servePages(app)
  await app.register(explorePages)
  await app.register(mergeRequestListPages)
  await app.register(previewPages)
}
