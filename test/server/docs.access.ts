import { answering, EVERYBODY, statuses } from '../access/actors.js'
import type { ResourceAccess } from '../access/resource.js'

export const access: ResourceAccess = {
  instance: {
    'GET /api/v3/openapi.json': { expected: EVERYBODY },
    'GET /api/docs': { expected: EVERYBODY },
    'GET /api/docs/json': { expected: EVERYBODY },
    'GET /api/docs/yaml': { expected: EVERYBODY },
    'GET /api/docs/static/theme/gitstead.css': { expected: EVERYBODY },
    'GET /api/docs/static/theme/icon.svg': { expected: EVERYBODY },
    'GET /api/docs/static/index.html': { expected: answering(302, EVERYBODY) },
    'GET /api/docs/static/swagger-initializer.js': { expected: EVERYBODY },
    // No page has this name: as for every unknown path, wrong credentials are refused first.
    'GET /api/docs*': { expected: statuses({ blocked: 401, readUser: 401, wrong: 401, others: 404 }) }
  }
}
