// Measures each frequent operation in one short run: its rate over eight connections, or its time, and the processor time of all
// processes for each, including that of the jobs that follow it. `--only WORDS` measures only the operations whose names have
// these words; several are separated by commas.
import { rmSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { temporaryFolder } from './lib/clean-up.js'
import { authorization, runGit } from './lib/git.js'
import { bigRepository, FOLDERS, pathOfFile } from './lib/history.js'
import { get, post, stopLoad } from './lib/load.js'
import { once, repeated, timed } from './lib/operations.js'
import { createProject, type ProjectRecord } from './lib/rest.js'
import { homeOfTable, type TableData } from './lib/table-data.js'

const PUSHES = 15
const COMMITS = 150
const WARM_COMMITS = 60

const { values: options } = parseArgs({ options: { only: { type: 'string' } } })
const wanted = options.only?.split(',').map(words => words.trim())
const isWanted = (name: string) => wanted === undefined || wanted.some(words => name.includes(words))

const { home, dataset } = await homeOfTable()
await withAppliance({ home, admin: dataset.admin }, measure)
stopLoad()

async function measure(appliance: Prepared): Promise<void> {
  const operations = { ...(await reads(appliance, dataset)), ...git(appliance, dataset), ...writes(appliance, dataset) }
  const names = Object.keys(operations).filter(isWanted)
  if (names.length === 0) throw new Error(`--only: choose from ${Object.keys(operations).join(', ')}`)
  for (const [name, run] of Object.entries(operations)) if (isWanted(name)) await run(name)
}

type Operations = { [name: string]: (name: string) => Promise<void> }

async function reads(appliance: Prepared, data: TableData): Promise<Operations> {
  const { token } = data.admin
  const many = (count: number, path: (at: number) => string, asker = token) =>
    Array.from({ length: count }, (_, at) => get(`/api/v3${path(at)}`, asker))
  const read = (count: number, path: (at: number) => string, asker?: string) => (name: string) =>
    repeated(appliance, name, many(count, path, asker))
  const firstRead = (path: (at: number) => string) => (name: string) =>
    once(appliance, name, many(1400, path), { warm: 400 })
  const commits = (await runGit(['-C', await bigRepository(), 'rev-list', '--max-count=5000', 'master'])).split('\n')
  const repository = `/projects/${data.history.id}/repository`
  const commit = (at: number) => `${repository}/commits/${commits[at]}`
  const file = (at: number) => `${repository}/files?file_path=${encodeURIComponent(pathOfFile(at))}&ref=master`
  const planned = `/projects/${data.planned}`
  return {
    'get project': read(100, at => `/projects/${data.ownedProjects[at]}`, data.ownerToken),
    'own projects': read(1, () => '/projects/owned', data.ownerToken),
    'all projects': read(1, () => '/projects/all'),
    "member's projects": read(1, () => '/projects', data.memberToken),
    'search projects': read(100, at => `/projects/search/project-${200 + at * 17}`),
    'search users': read(100, at => `/users?search=seeded-${at * 9}`),
    tree: read(100, at => `${repository}/tree?path=${FOLDERS[at]}`),
    'raw file': read(100, at => `${repository}/blobs/master?filepath=${pathOfFile(400 + at)}`),
    file: read(100, at => file(500 + at)),
    'list of commits': read(1, () => `${repository}/commits`),
    'single commit': read(100, commit),
    'first read of a commit': firstRead(at => commit(2000 + at)),
    'first read of a file': firstRead(at => file(1000 + at)),
    '20 issues': read(1, () => `${planned}/issues`),
    'one issue': read(100, at => `${planned}/issues/${data.firstIssue + 10 + at}`),
    '20 notes': read(1, () => `${planned}/issues/${data.firstIssue}/notes`),
    '20 labels': read(1, () => `${planned}/labels`),
    '20 builds': read(1, () => `/projects/${data.built}/builds`),
    '20 merge requests': read(1, () => `/projects/${data.reviewed}/merge_requests`),
    '20 to-dos': read(1, () => '/todos', data.readerToken)
  }
}

function writes(appliance: Prepared, data: TableData): Operations {
  const { token } = data.admin
  const newIssue = (writers: number) => (name: string) => {
    const issue = { title: 'An issue of a writer', description: 'what there is to do' }
    return repeated(appliance, name, [post(`/api/v3/projects/${data.planned}/issues`, token, issue)], writers)
  }
  const commit = (repositories: readonly ProjectRecord[]) => (name: string) => {
    const requests = Array.from({ length: WARM_COMMITS + COMMITS }, (_, at) => {
      const id = repositories[at % repositories.length]?.id
      const file_path = `of-${repositories.length}/folder-${at % 20}/file-${at}.txt`
      const record = { file_path, branch_name: 'master', content: `content ${at}\n`, commit_message: `Add ${at}` }
      return post(`/api/v3/projects/${id}/repository/files`, token, record)
    })
    return once(appliance, name, requests, { warm: WARM_COMMITS, connections: repositories.length })
  }
  return {
    'new issue, 1 writer': newIssue(1),
    'new issue, 4 writers': newIssue(4),
    'commit by API, 1 repository': commit(data.written.slice(0, 1)),
    'commit by API, 4 repositories': commit(data.written)
  }
}

/** Git's own client does these. Its processor time does not count. */
function git(appliance: Prepared, data: TableData): Operations {
  const access = authorization(data.admin.username, data.admin.token)
  const urlOf = (project: ProjectRecord) => `${appliance.url}/${project.path_with_namespace}.git`
  const clone = async (project: ProjectRecord, ...how: string[]) => {
    const into = temporaryFolder()
    await runGit([...access, 'clone', '--quiet', ...how, urlOf(project), into])
    return into
  }
  const cloned = (times: number, project: ProjectRecord, ...how: string[]) => {
    return (name: string) =>
      timed(appliance, name, times, async () => rmSync(await clone(project, ...how), { recursive: true }))
  }
  return {
    'small clone': cloned(20, data.small),
    'ls-remote': name => timed(appliance, name, 40, () => runGit([...access, 'ls-remote', urlOf(data.small)])),
    'mirror clone of 80,000 commits': cloned(2, data.history, '--mirror'),
    'push of one commit': async name => {
      const from = await clone(data.small, '--bare')
      const tips = await newCommits(from, PUSHES + 1)
      const push = (at: number) => [...access, '-C', from, 'push', '--quiet', urlOf(data.small), `${tips[at]}:master`]
      await timed(appliance, name, PUSHES, at => runGit(push(at)))
    },
    'push of 80,000 commits': async name => {
      const source = await bigRepository()
      const project = await createProject(appliance, 'pushed')
      const push = [...access, '-C', source, 'push', '--quiet', '--mirror', urlOf(project)]
      await timed(appliance, name, 1, () => runGit(push))
    }
  }
}

/** Makes commits on top of master, each with one new file. Returns their ids, oldest first. */
async function newCommits(repository: string, count: number): Promise<string[]> {
  const text = Array.from({ length: count }, (_, at) => {
    const from = at === 0 ? 'from refs/heads/master^0\n' : ''
    const author = `committer Bench <bench@example.org> ${1_700_000_000 + at} +0000\n`
    return `commit refs/heads/new\n${author}data 3\nAdd\n${from}M 100644 inline new-${at}.txt\ndata 4\nnew\n\n`
  })
  await runGit(['-C', repository, 'fast-import', '--quiet'], text.join(''))
  return (await runGit(['-C', repository, 'rev-list', '--reverse', 'master..new'])).split('\n')
}
