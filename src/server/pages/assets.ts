// The stylesheet, the script and the icon of the pages.
import type { FastifyPluginAsync } from 'fastify'
import { broadcastStyle, ICON, SCRIPT, STYLE } from './page.js'

/** A page names the file with its digest, so the file behind an address never changes. */
const KEPT = 'public, max-age=31536000, immutable'

export const assetRoutes: FastifyPluginAsync = async app => {
  const open = { config: { public: true as const, duringMaintenance: true as const }, schema: { hide: true } as object }
  app.get('/assets/gitstead.css', open, async (_request, reply) =>
    reply.type('text/css; charset=utf-8').header('cache-control', KEPT).send(STYLE.text)
  )
  app.get('/assets/gitstead.js', open, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').header('cache-control', KEPT).send(SCRIPT.text)
  )
  app.get('/assets/icon.svg', open, async (_request, reply) =>
    reply.type('image/svg+xml').header('cache-control', 'public, max-age=86400').send(ICON.text)
  )
  app.get('/assets/broadcasts.css', open, async (_request, reply) =>
    reply
      .type('text/css; charset=utf-8')
      .header('cache-control', 'no-store')
      .send(await broadcastStyle())
  )
}
