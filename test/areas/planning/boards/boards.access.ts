import { boardOf, createList } from '../../../../src/areas/planning/boards/boards.js'
import { administer, SEE_PROJECT } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { projectRow } from '../../../helpers/factory.js'
import { makeLabel } from '../labels/make-labels.js'

const aBoard = async ({ project, unique }: Asking) => {
  const { id } = await boardOf(project)
  return { params: { board_id: id }, payload: { label_id: await makeLabel({ project: project.id }, unique) } }
}

const aList = async (asking: Asking) => {
  const row = await projectRow(asking.project)
  const list = async (name: string) => {
    const { params, payload } = await aBoard({ ...asking, unique: `${asking.unique} ${name}` })
    return { board_id: params.board_id, list_id: (await createList(row, params.board_id, payload.label_id)).id }
  }
  await list('first')
  return { params: await list('second'), payload: { position: 0 } }
}
const lists = '/api/v3/projects/:id/boards/:board_id/lists'

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/boards': { expected: SEE_PROJECT() },
    [`GET ${lists}`]: {
      expected: SEE_PROJECT(),
      specimen: async asking => ({ params: (await aBoard(asking)).params })
    },
    [`GET ${lists}/:list_id`]: {
      expected: SEE_PROJECT(),
      specimen: async asking => ({ params: (await aList(asking)).params })
    },
    [`POST ${lists}`]: { expected: administer('reporter', 201), specimen: aBoard },
    [`PUT ${lists}/:list_id`]: { expected: administer('reporter'), specimen: aList },
    [`DELETE ${lists}/:list_id`]: {
      expected: administer('owner'),
      specimen: async asking => ({ params: (await aList(asking)).params })
    }
  }
}
