// Release notes of tags. They are deleted with their tag (ref-changes.ts).
import { duplicateKey } from '../../../../db/connect/failure.js'
import { execute, row } from '../../../../db/connect/sql.js'
import { transact } from '../../../../db/connect/transact.js'
import { Conflict, NotFoundAs } from '../../../../errors.js'
import { refValue } from '../../../../git/refs/refs.js'
import { holdProject } from '../../../projects/projects/projects.queries.js'
import { repositoryPath, type StoredProject } from '../../../projects/projects/repositories.js'
import type { ReleaseRow } from './tags.view.js'

/** Writes the release notes of a tag. Throws NotFoundAs without the tag, Conflict when it already has notes. */
export async function createRelease(project: StoredProject, tag: string, description: string): Promise<ReleaseRow> {
  await requireTag(project, tag)
  const now = new Date()
  try {
    await transact(async () => {
      if (!(await holdProject(project.id))) throw new NotFoundAs('Tag does not exist')
      await execute(
        'insert into releases (project_id, tag, description, created_at, updated_at) values (?, ?, ?, ?, ?)',
        [project.id, tag, description, now, now]
      )
    })
  } catch (error) {
    if (duplicateKey(error)) throw new Conflict('Release already exists')
    throw error
  }
  return { tag, description }
}

/** Changes the release notes of a tag. Throws NotFoundAs without the tag or the notes. */
export async function updateRelease(project: StoredProject, tag: string, description: string): Promise<ReleaseRow> {
  await requireTag(project, tag)
  const { affectedRows } = await execute(
    'update releases set description = ?, updated_at = ? where project_id = ? and tag = ?',
    [description, new Date(), project.id, tag]
  )
  if (affectedRows === 0 && !(await row('select id from releases where project_id = ? and tag = ?', [project.id, tag])))
    throw new NotFoundAs('Release does not exist')
  return { tag, description }
}

async function requireTag(project: StoredProject, tag: string): Promise<void> {
  if ((await refValue(repositoryPath(project), `refs/tags/${tag}`)) === null) throw new NotFoundAs('Tag does not exist')
}
