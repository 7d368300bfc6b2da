import { execute } from '../../../../src/db/connect/sql.js'
import { statuses } from '../../../access/actors.js'
import { ADMINISTER_PROJECT, administer, type ProjectStatuses, SEE_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'

/** A fork of another project, made without a copy: for those who may end the relation, as only they need it. */
const asFork = async ({ world, project }: Asking) => {
  await execute(
    `insert ignore into forked_project_links (forked_to_project_id, forked_from_project_id, created_at, updated_at)
     values (?, ?, now(), now())`,
    [project.id, world.projects.public.id]
  )
  return {}
}

/** A guest of a private project may not read its repository. The owner has the project in the own namespace already. */
function forkable(): ProjectStatuses {
  const change = (of: ProjectStatuses['public'], others: object) => statuses({ ...of, ...others })
  const all = SEE_PROJECT(201)
  return {
    private: change(all.private, { guest: 409, owner: 409 }),
    privateClosed: change(all.privateClosed, { guest: 409, owner: 409 }),
    internal: change(all.internal, { owner: 409 }),
    public: change(all.public, { owner: 409 }),
    closedBuilds: change(all.closedBuilds, { owner: 409 }),
    withoutBuilds: change(all.withoutBuilds, { owner: 409 }),
    archived: change(all.archived, { owner: 409 }),
    grouped: change(all.grouped, { guest: 409 })
  }
}

export const access: ResourceAccess = {
  project: {
    'POST /api/v3/projects/fork/:id': { expected: forkable() },
    'POST /api/v3/projects/:id/fork/:forked_from_id': {
      expected: ADMINISTER_PROJECT(201),
      specimen: async ({ world: { app, admin }, project }) => {
        await execute('delete from forked_project_links where forked_to_project_id = ?', [project.id])
        return { params: { forked_from_id: (await app.make.project({ owner: admin })).id } }
      }
    },
    'DELETE /api/v3/projects/:id/fork': { expected: administer('owner'), specimen: asFork }
  }
}
