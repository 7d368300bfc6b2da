import { ANYBODY } from '../../../access/actors.js'
import type { ResourceAccess } from '../../../access/resource.js'

const KINDS = ['licenses', 'gitignores', 'dockerfiles', 'gitstead_ci_ymls', 'gitlab_ci_ymls']
const aTemplate = (kind: string) => ({ params: { key: kind === 'licenses' ? 'mit' : 'Node' } })

export const access: ResourceAccess = {
  instance: Object.fromEntries(
    KINDS.flatMap(kind =>
      ['/templates', ''].flatMap(prefix => [
        [`GET /api/v3${prefix}/${kind}`, { expected: ANYBODY }],
        [`GET /api/v3${prefix}/${kind}/:key`, { expected: ANYBODY, specimen: () => aTemplate(kind) }]
      ])
    )
  )
}
