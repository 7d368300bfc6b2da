import { execute } from '../../../../src/db/connect/sql.js'
import type { TestUser } from '../../../helpers/factory.js'

/** Writes a snippet: of a project, or of the user when there is none. Returns its id. */
export async function makeSnippet(
  author: Pick<TestUser, 'id'>,
  project: { readonly id: number } | null = null,
  { title = 'Hello', level = 20, content = 'puts 1\n' }: { title?: string; level?: number; content?: string } = {}
): Promise<number> {
  const { insertId } = await execute(
    `insert into snippets (project_id, author_id, title, file_name, content, visibility_level, created_at, updated_at)
     values (?, ?, ?, 'hello.rb', ?, ?, now(3), now(3))`,
    [project?.id ?? null, author.id, title, content, level]
  )
  return insertId
}
