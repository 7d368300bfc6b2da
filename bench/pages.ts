// Measures pages as a signed-in browser asks for them: a project, a list of issues, an issue with 100 notes, a merge request with 50
// files, and the home page of a user with 1,000 memberships.
import { request } from 'node:http'
import { beginSession, byPassword } from '../src/areas/people/credentials/credentials.js'
import { type Prepared, withAppliance } from './lib/appliance.js'
import { report } from './lib/figure.js'
import { burst, rate, stopLoad } from './lib/load.js'
import { finishJobs } from './lib/pushed-history.js'
import { ask, createProject } from './lib/rest.js'
import { seedMemberships, seedProjects } from './lib/seed.js'

const NOTES = 100
const FILES = 50
const MEMBERSHIPS = 1000
/** 300 pages a second and core. */
const OFTEN = { firstByte: 50, processor: 1000 / 300 }
const MOST_BYTES = 60_000

interface PageOf {
  readonly name: string
  readonly path: string
  readonly cookie: string
  /** The limit of the time until the first byte, in ms. */
  readonly firstByte: number
  /** The limit of the processor time, in ms; null for a page that is only opened now and then. */
  readonly processor: number | null
}

async function makePages(appliance: Prepared): Promise<PageOf[]> {
  const { id, path_with_namespace: path } = await createProject(appliance, 'pages', { public: true })
  const below = `/projects/${id}`
  const files = (folder: string, count: number) =>
    Array.from({ length: count }, (_, at) => ({
      action: 'create',
      file_path: `${folder}/file-${at}.ts`,
      content: Array.from({ length: 20 }, (_, line) => `export const value${line} = '${folder} ${at} ${line}'\n`).join(
        ''
      )
    }))
  const commit = (branch: string, actions: object[]) =>
    ask(appliance, 'POST', `${below}/repository/commits`, {
      branch_name: branch,
      commit_message: `Add ${branch}`,
      actions
    })
  const readme = { action: 'create', file_path: 'README.md', content: '# Pages\n\nWhat this is *for*.\n' }
  await commit('master', [readme, ...files('source', 30)])
  await ask(appliance, 'POST', `${below}/repository/branches`, { branch_name: 'change', ref: 'master' })
  await commit('change', files('changed', FILES))
  const wish = { source_branch: 'change', target_branch: 'master', title: 'Add files' }
  const mergeRequest = await ask<{ iid: number }>(appliance, 'POST', `${below}/merge_requests`, wish)
  const issue = await ask<{ id: number; iid: number }>(appliance, 'POST', `${below}/issues`, { title: 'Discussed' })
  for (let number = 0; number < 30; number++)
    await ask(appliance, 'POST', `${below}/issues`, { title: `Wish ${number}`, labels: 'wish' })
  for (let number = 0; number < NOTES; number++) {
    await ask(appliance, 'POST', `${below}/issues/${issue.id}/notes`, { body: `What comment *${number}* says` })
  }
  const person = { username: 'member', name: 'A Member', email: 'member@example.org', password: 'a-long-password' }
  const member = await ask<{ id: number }>(appliance, 'POST', '/users', person)
  const { firstProject } = await seedProjects(2 * MEMBERSHIPS)
  await seedMemberships(member.id, firstProject, MEMBERSHIPS, 2 * MEMBERSHIPS)
  await finishJobs()
  const cookieOf = async (user: { readonly id: number; readonly username: string }) => {
    const { cookie } = await beginSession(
      byPassword({ ...user, name: user.username, email: '', admin: false, external: false }),
      { address: '127.0.0.1', userAgent: 'bench' }
    )
    return cookie
  }
  const cookie = await cookieOf(appliance.admin)
  return [
    { name: 'project', path: `/${path}`, cookie, ...OFTEN },
    { name: 'issue with 100 notes', path: `/${path}/issues/${issue.iid}`, cookie, ...OFTEN },
    { name: 'list of issues', path: `/${path}/issues`, cookie, ...OFTEN },
    { name: 'merge request', path: `/${path}/merge_requests/${mergeRequest.iid}`, cookie, ...OFTEN },
    { name: 'changes of 50 files', path: `/${path}/merge_requests/${mergeRequest.iid}/diffs`, cookie, ...OFTEN },
    {
      name: 'home, 1,000 memberships',
      path: '/',
      cookie: await cookieOf({ ...person, id: member.id }),
      firstByte: 40,
      processor: null
    }
  ]
}

/** Returns the bytes of a compressed page. Throws when it is not a page. */
function sizeOf(port: number, { path, cookie }: PageOf): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { cookie: `_service_session=${cookie}`, accept: 'text/html', 'accept-encoding': 'br' }
    request({ host: '127.0.0.1', port, path, headers }, async answer => {
      let size = 0
      for await (const chunk of answer) size += (chunk as Buffer).length
      if (answer.statusCode === 200) resolve(size)
      else reject(new Error(`${path}: ${answer.statusCode}`))
    })
      .once('error', reject)
      .end()
  })
}

async function measure(appliance: Prepared): Promise<void> {
  const { port, parts } = appliance
  for (const page of await makePages(appliance)) {
    const { path, cookie } = page
    const text = `GET ${path} HTTP/1.1\r\nhost: localhost\r\naccept: text/html\r\naccept-encoding: br\r\ncookie: _service_session=${cookie}\r\n\r\n`
    const what = { port, requests: [text] }
    const { perSecond, ...cost } = await rate({ ...what, connections: 8, rounds: 3, parts })
    const { p90 } = await burst({ ...what, connections: 1, milliseconds: 2000 })
    const name = `page, ${page.name}`
    const lower = { better: 'lower' as const }
    report({
      name,
      value: cost.processor_ms,
      unit: 'processor ms each',
      limit: page.processor,
      ...lower,
      detail: { per_second: perSecond, ...cost }
    })
    report({ name: `${name}, first byte`, value: p90, unit: 'ms p90', limit: page.firstByte, ...lower })
    report({
      name: `${name}, size`,
      value: await sizeOf(port, page),
      unit: 'bytes, compressed',
      limit: MOST_BYTES,
      ...lower
    })
  }
}

await withAppliance({}, measure)
stopLoad()
