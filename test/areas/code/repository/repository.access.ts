import { COMMENT_COMMIT, READ_COMMIT, READ_REPOSITORY, write } from '../../../access/expectations.js'
import type { ResourceAccess } from '../../../access/resource.js'
import type { Asking } from '../../../access/world.js'
import { factory } from '../../../helpers/factory.js'

/** Each actor creates, updates and deletes a file of its own. */
const file = ({ actor }: Asking) => ({
  file_path: `by-${actor}`,
  branch_name: 'open',
  commit_message: 'Change a file'
})

async function aBlob({ world: { app }, project }: Asking) {
  const [entry] = (await app.as(project.owner).get(`/projects/${project.id}/repository/tree`)).json()
  return { params: { sha: entry.id } }
}

/** Each actor commits a file of its own. */
const commit = ({ actor }: Asking) => ({
  payload: {
    branch_name: 'open',
    commit_message: 'Commit',
    actions: [{ action: 'create', file_path: `committed-by-${actor}`, content: 'x' }]
  }
})

/** A commit that nobody has picked before: the one that adds a file for this actor. */
async function toPick({ actor, project }: Asking) {
  const branch = `picked-by-${actor}`
  await factory.branch(project, branch)
  await factory.file(project, branch, 'x', branch)
  return { params: { sha: branch }, payload: { branch: 'open' } }
}

async function aSha({ world: { app }, project }: Asking) {
  const { id } = (await app.as(project.owner).get(`/projects/${project.id}/repository/commits/master`)).json()
  return { params: { sha: id }, payload: { note: 'Well done' } }
}

const aCommit = () => ({ params: { sha: 'master' } })

export const access: ResourceAccess = {
  project: {
    'GET /api/v3/projects/:id/repository/tree': { expected: READ_REPOSITORY },
    'GET /api/v3/projects/:id/repository/blobs/:sha': {
      expected: READ_REPOSITORY,
      specimen: () => ({ ...aCommit(), query: { filepath: '.gitstead-ci.yml' } })
    },
    'GET /api/v3/projects/:id/repository/commits/:sha/blob': {
      expected: READ_REPOSITORY,
      specimen: () => ({ ...aCommit(), query: { filepath: '.gitstead-ci.yml' } })
    },
    'GET /api/v3/projects/:id/repository/raw_blobs/:sha': { expected: READ_REPOSITORY, specimen: aBlob },
    'GET /api/v3/projects/:id/repository/files': {
      expected: READ_REPOSITORY,
      specimen: () => ({ query: { file_path: '.gitstead-ci.yml', ref: 'master' } })
    },
    'GET /api/v3/projects/:id/repository/commits/:sha': { expected: READ_COMMIT, specimen: aCommit },
    'POST /api/v3/projects/:id/repository/commits': { expected: write(201), specimen: commit },
    'POST /api/v3/projects/:id/repository/commits/:sha/cherry_pick': { expected: write(201), specimen: toPick },
    'GET /api/v3/projects/:id/repository/commits/:sha/comments': { expected: READ_COMMIT, specimen: aCommit },
    'POST /api/v3/projects/:id/repository/commits/:sha/comments': { expected: COMMENT_COMMIT, specimen: aSha },
    'POST /api/v3/projects/:id/repository/files': {
      expected: write(201),
      specimen: asking => ({ payload: { ...file(asking), content: 'first' } })
    },
    'PUT /api/v3/projects/:id/repository/files': {
      expected: write(200),
      specimen: asking => ({ payload: { ...file(asking), content: 'second' } })
    },
    'DELETE /api/v3/projects/:id/repository/files': {
      expected: write(200),
      specimen: asking => ({ query: file(asking) })
    }
  }
}
