import { createIssue } from '../../../../src/areas/planning/issues/creation.js'
import type { IssueBody } from '../../../../src/areas/planning/issues/issues.schema.js'
import { execute } from '../../../../src/db/connect/sql.js'
import { actorOf, projectRow, type TestProject, type TestUser } from '../../../helpers/factory.js'

type Of = { readonly type: string; readonly id: number }
type Author = Pick<TestUser, 'id'>

/** Creates an issue. Returns its id. */
export async function makeIssue(
  project: TestProject,
  author: TestUser,
  body: Partial<IssueBody> = {}
): Promise<number> {
  return (await createIssue(await projectRow(project), { title: 'An issue', ...body }, actorOf(author))).id
}

/** Writes a note. Returns its id. */
export async function makeNote(
  project: { readonly id: number },
  { type, id }: Of,
  author: Author,
  text = 'x'
): Promise<number> {
  const { insertId } = await execute(
    `insert into notes (project_id, noteable_type, noteable_id, author_id, note, created_at, updated_at)
     values (?, ?, ?, ?, ?, now(3), now(3))`,
    [project.id, type, id, author.id, text]
  )
  return insertId
}

/** Inserts an award. Returns its id. */
export async function makeAward({ type, id }: Of, user: Author, name = 'tada'): Promise<number> {
  const { insertId } = await execute(
    `insert into award_emoji (awardable_type, awardable_id, name, user_id, created_at, updated_at)
     values (?, ?, ?, ?, now(3), now(3))`,
    [type, id, name, user.id]
  )
  return insertId
}
