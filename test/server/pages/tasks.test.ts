// Everyday tasks with as few clicks as docs/use/pages.md says. Each link and button must be on the page before.
import { readFileSync } from 'node:fs'
import { testApp } from '../../helpers/app.js'
import { type Answer, Browser, formIn, listen } from '../../helpers/browser.js'
import t from '../../helpers/tap.js'
import { makeSpecimens } from './every-page.js'

const app = await testApp(t)
const base = await listen(app.fastify)
const its = await makeSpecimens(app)
await app.runJobs()
const { user } = its
const project = `/${its.project}`

/** Counts what a person does with a mouse. */
class Visit {
  clicks = 0
  loads = 0

  private constructor(
    private readonly browser: Browser,
    private page: Answer
  ) {}

  static async at(path: string, browser: Browser): Promise<Visit> {
    return new Visit(browser, await browser.get(path))
  }

  get text(): string {
    return this.page.body
  }

  /** Clicks on the first link whose address matches. */
  async follow(address: RegExp): Promise<void> {
    const links = [...this.page.body.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => unescaped(href))
    const link = links.find(href => address.test(href))
    if (link === undefined) throw new Error(`the page has no link ${address}: ${links.join(' ')}`)
    this.clicks++
    await this.#open(new URL(link, this.#url).href)
  }

  /** Sends a form; `chosen` are the clicks on its boxes. A form in closed details needs one more click. */
  async send(which: string, values: Readonly<Record<string, string>> = {}, chosen = 0): Promise<void> {
    const { body } = this.page
    const { action } = formIn(body, which)
    const before = body.slice(0, body.indexOf(`action="${action.replaceAll('&', '&amp;')}"`))
    const last = before.lastIndexOf('<details')
    const isClosed = last > before.lastIndexOf('</details>') && !/^<details[^>]* open/.test(before.slice(last))
    this.clicks += 1 + chosen + (isClosed ? 1 : 0)
    if (isSearch(body, which)) {
      await this.#open(`${new URL(action, this.#url).href.split('?')[0]}?${new URLSearchParams(values)}`)
      return
    }
    const answer = await this.browser.submit(this.page, which, values)
    if (answer.status !== 303) throw new Error(`${action}: ${answer.status} ${answer.body}`)
    await this.#open(new URL(answer.location ?? '', base).href)
  }

  #url = base

  async #open(url: string): Promise<void> {
    this.#url = url
    this.loads++
    const { pathname, search } = new URL(url)
    this.page = await this.browser.get(pathname + search)
    if (this.page.status === 302) this.page = await this.browser.get(this.page.location ?? '')
    if (this.page.status !== 200) throw new Error(`${url}: ${this.page.status}`)
  }
}

const isSearch = (body: string, which: string) =>
  [...body.matchAll(/<form.*?<\/form>/gs)].some(
    ([form]) => form.includes(which) && !/^<form[^>]*method="post"/.test(form)
  )
const unescaped = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'").replaceAll('&quot;', '"')

const signedIn = new Browser(base)
await signedIn.signIn(user)

const HOME = ['home', '/'] as const
const PROJECT = ['project', project] as const
const issue = `${project}/issues/${its.issue}`

type Task = readonly [task: string, from: string, path: string, act: (visit: Visit) => Promise<void>, result: RegExp]

const TASKS: readonly Task[] = [
  [
    'sign in',
    ...(['the public projects', '/'] as const),
    async visit => {
      await visit.follow(/sign_in/)
      await visit.send('sign_in', { login: user.username, password: user.password })
    },
    /Hello Ada/
  ],
  [
    'make a project',
    ...HOME,
    async visit => {
      await visit.follow(/^\/projects\/new/)
      await visit.send('namespace_id', { name: 'Synth' })
    },
    /git push -u origin master/
  ],
  [
    'open an issue',
    ...PROJECT,
    async visit => {
      await visit.follow(/compiler\/issues$/)
      await visit.follow(/\/issues\/new/)
      await visit.send('name="title"', { title: 'New one' })
    },
    /<h1>New one/
  ],
  [
    'comment on an issue that is assigned to you',
    ...HOME,
    async visit => {
      await visit.follow(/\/issues\/1$/)
      await visit.send('name="note"', { note: 'Heard' })
    },
    /Heard/
  ],
  [
    'set a label',
    ...(['issue', issue] as const),
    async visit => {
      await visit.follow(/\/edit$/)
      await visit.send('name="title"', { 'labels[]': 'bug' }, 1)
    },
    /<a class="label"/
  ],
  [
    'close an issue that is assigned to you',
    ...HOME,
    async visit => {
      await visit.follow(/\/issues\/1$/)
      await visit.send('name="note"', { command: 'close' })
    },
    /<span class="state bad">closed/
  ],
  [
    'take an issue',
    ...(['issues', `${project}/issues`] as const),
    async visit => {
      await visit.follow(/\/issues\/2$/)
      await visit.send('/take')
    },
    /<h2>Assignee<\/h2>\s*<svg/
  ],
  ['finish a to-do', ...HOME, visit => visit.send('/done'), /To-dos/],
  [
    'follow the newest build',
    ...PROJECT,
    async visit => {
      await visit.follow(/\/pipelines\/\d+$/)
      await visit.follow(/\/builds\/\d+$/)
    },
    /class="trace|waits for a runner/
  ],
  [
    'retry what failed in a pipeline',
    ...PROJECT,
    async visit => {
      await visit.follow(/\/pipelines$/)
      await visit.follow(new RegExp(`/pipelines/${its.pipeline}$`))
      await visit.send('/retry')
    },
    /class="state busy"/
  ],
  [
    'open a merge request for a branch',
    ...([
      'the address that the push printed',
      `${project}/merge_requests/new?merge_request%5Bsource_branch%5D=chords`
    ] as const),
    visit => visit.send('name="title"', { title: 'Chords' }),
    /<h1>Chords/
  ],
  [
    'open a merge request for a branch',
    ...PROJECT,
    async visit => {
      await visit.follow(/\/branches$/)
      await visit.follow(/merge_requests\/new\?.*=arpeggio$/)
      await visit.send('name="title"', { title: 'Arpeggio' })
    },
    /<h1>Arpeggio/
  ],
  [
    'comment on a line of a merge request',
    ...HOME,
    async visit => {
      await visit.follow(/\/merge_requests\/1$/)
      await visit.follow(/\/diffs$/)
      await visit.follow(/note=diff/)
      await visit.send('line_notes', { note: 'Why so short?' })
    },
    /Why so short/
  ],
  [
    'merge',
    ...HOME,
    async visit => {
      await visit.follow(/\/merge_requests\/1$/)
      await visit.send('/merge_requests/1/merge')
    },
    /<span class="state done">merged/
  ],
  [
    'change a file',
    ...PROJECT,
    async visit => {
      await visit.follow(/\/blob\/master\/README\.md/)
      await visit.follow(/\/edit\/master/)
      await visit.send('name="last_commit_id"', { content: 'Louder', commit_message: 'Say it' })
    },
    /Louder/
  ],
  [
    'find a commit',
    ...PROJECT,
    async visit => {
      await visit.follow(/\/commits\/master$/)
      await visit.follow(/\/commit\/[0-9a-f]{40}$/)
    },
    /Say it/
  ],
  [
    'apply a commit to another branch',
    ...(['commit', `${project}/commit/master`] as const),
    visit => visit.send('cherry_pick', { branch: 'release' }),
    /Say it/
  ],
  [
    'search the code',
    ...PROJECT,
    async visit => {
      await visit.follow(/compiler\/search$/)
      await visit.send('id="ref"', { q: 'pitch', ref: 'master' })
    },
    /play\.ts/
  ],
  [
    'make a branch',
    ...PROJECT,
    async visit => {
      await visit.follow(/\/branches$/)
      await visit.send('name="branch_name"', { branch_name: 'solo' })
    },
    /solo/
  ],
  [
    'protect a branch',
    ...PROJECT,
    async visit => {
      await visit.follow(/\/branches$/)
      await visit.send('value="release"')
    },
    /<span class="title">release/
  ],
  [
    'publish a release',
    ...PROJECT,
    async visit => {
      await visit.follow(/\/tags$/)
      await visit.send('name="tag_name"', { tag_name: 'v2', release_description: 'Louder' })
    },
    /v2/
  ],
  [
    'add a member',
    ...PROJECT,
    async visit => {
      await visit.follow(/\/project_members$/)
      await visit.send('name="username"', { username: 'maria', access_level: '30' })
    },
    /maria/
  ],
  [
    'add a variable for builds',
    ...PROJECT,
    async visit => {
      await visit.follow(/\/settings$/)
      await visit.follow(/\/settings\/variables$/)
      await visit.send('id="key"', { key: 'SECRET', value: 'password' })
    },
    /SECRET/
  ]
]

t.test('each task takes as many clicks and page loads as the manual says', async t => {
  await app.make.user({ username: 'maria' })
  const id = (await app.as(user).get(`/projects/${encodeURIComponent(its.project)}`)).json().id
  for (const branch of ['arpeggio', 'release']) {
    await app.as(user).post(`/projects/${id}/repository/branches`, { branch_name: branch, ref: 'master' })
  }
  const file = { file_path: 'arpeggio', branch_name: 'arpeggio', content: 'x', commit_message: 'Spread chords' }
  await app.as(user).post(`/projects/${id}/repository/files`, file)
  await app.runJobs()
  const counted: string[] = []
  for (const [task, from, path, act, result] of TASKS) {
    const visit = await Visit.at(path, task === 'sign in' ? new Browser(base) : signedIn)
    await act(visit).catch(error => t.fail(`${task}: ${error}`))
    t.match(visit.text, result, task)
    counted.push(`| ${task} | ${from} | ${visit.clicks} | ${visit.loads} |`)
  }
  const [, table = ''] = readFileSync('docs/use/pages.md', 'utf8').split('## Everyday tasks')
  t.same(table.match(/^\| .* \| \d+ \| \d+ \|$/gm), counted)
})
