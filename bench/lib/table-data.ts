// The data of the table: 2,000 projects, the repository of 80,000 commits, and what the lists show. The home stays in the cache,
// like that of the mixed load.
import type { Prepared } from './appliance.js'
import { temporaryFolder } from './clean-up.js'
import { runGit } from './git.js'
import { bigRepository } from './history.js'
import { homeWith } from './kept-home.js'
import { type ListData, makeLists, type Sizes } from './list-data.js'
import { writeHistory } from './mixed/small-history.js'
import { pushHistory } from './pushed-history.js'
import { pushTo } from './pushes.js'
import { commitFile, createProject, type ProjectRecord } from './rest.js'

/** Change it when the data change. */
const VERSION = 4
const SIZES: Sizes = {
  projects: 2000,
  issues: 2000,
  mergeRequests: 20_000,
  pipelines: 10_000,
  labels: 38,
  notes: 400,
  todos: 0
}

export interface TableData extends ListData {
  /** Has 80,000 commits. */
  readonly history: ProjectRecord
  /** Has 300 commits. */
  readonly small: ProjectRecord
  /** Four empty repositories with a README. */
  readonly written: readonly ProjectRecord[]
}

export const homeOfTable = () => homeWith('table', VERSION, fill)

async function fill(appliance: Prepared): Promise<TableData> {
  process.stderr.write('bench: making the data of the table, which takes a minute or two\n')
  const history = await pushHistory(appliance, await bigRepository())
  const small = await createProject(appliance, 'small', { public: true })
  await pushTo(appliance, small, await smallRepository())
  const written = []
  for (const name of ['one', 'two', 'three', 'four']) {
    const project = await createProject(appliance, `written ${name}`)
    await commitFile(appliance, project, 'README', 'read me\n')
    written.push(project)
  }
  return { ...(await makeLists(appliance, SIZES)), history: history.project, small, written }
}

async function smallRepository(): Promise<string> {
  const path = temporaryFolder()
  await runGit(['init', '--quiet', '--bare', '--initial-branch=master', path])
  await writeHistory(path)
  return path
}
