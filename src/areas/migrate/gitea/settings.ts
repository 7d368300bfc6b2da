// Protected branches, releases, hooks and variables of a repository of Gitea.
import { checked, firstMoment, fitting } from '../sources/shapes.js'
import type { Draft } from '../sources/source.js'
import { itemsOf, reversedPagesOf } from './lists.js'
import type { Reading } from './reading.js'
import { Hook, Protection, Release, Variable } from './shapes.js'

const checkProtection = checked(Protection)
const checkRelease = checked(Release)
const checkHook = checked(Hook)
const checkVariable = checked(Variable)
/** The others speak to chats and the like. */
const OWN_HOOKS = new Set(['gitea', 'forgejo', 'gogs'])

export async function* settingRecords(reading: Reading): AsyncGenerator<Draft> {
  yield* branchRecords(reading)
  yield* releaseRecords(reading)
  yield* hookRecords(reading)
  yield* variableRecords(reading)
}

async function* branchRecords(reading: Reading): AsyncGenerator<Draft> {
  const report = { what: 'protected branch', skipped: reading.skipped }
  for await (const found of itemsOf(reading, `${reading.path}/branch_protections`, checkProtection, report)) {
    const name = found.rule_name || found.branch_name
    if (!name) continue
    const created_at = firstMoment(found.created_at, reading.created)
    yield {
      kind: 'protected_branch',
      name,
      // A list of names leaves out others who may write.
      developers_can_push: found.enable_push === true && found.enable_push_whitelist !== true,
      developers_can_merge: found.enable_merge_whitelist !== true,
      created_at,
      updated_at: firstMoment(found.updated_at, created_at)
    }
  }
}

async function* releaseRecords({ skipped, ...reading }: Reading): AsyncGenerator<Draft> {
  // The newest release comes first in the list.
  for await (const page of reversedPagesOf(reading, `${reading.path}/releases`)) {
    for (const found of fitting(page, checkRelease, { what: 'release', skipped })) {
      const { tag_name, name, body } = found
      if (found.draft || !tag_name) {
        skipped('release', 'it is a draft')
        continue
      }
      const files = (found.assets ?? []).map(
        ({ name, browser_download_url: url }) => `- [${name.replace(/[[\]\\\n]/g, ' ')}](${url ?? ''})`
      )
      const created_at = firstMoment(found.created_at, found.published_at, reading.created)
      yield {
        kind: 'release',
        tag: tag_name,
        description: [name && name !== tag_name ? `# ${name}` : '', body ?? '', files.join('\n')]
          .filter(part => part !== '')
          .join('\n\n'),
        created_at,
        updated_at: created_at
      }
    }
  }
}

/** They come disabled. Gitea does not show their secrets, or whether certificates are checked. */
async function* hookRecords(reading: Reading): AsyncGenerator<Draft> {
  const report = { what: 'hook', skipped: reading.skipped }
  for await (const { type, config, events, ...found } of itemsOf(reading, `${reading.path}/hooks`, checkHook, report)) {
    if (!OWN_HOOKS.has(type ?? 'gitea') || !config?.url) {
      reading.skipped('hook', 'it is for another service')
      continue
    }
    const created_at = firstMoment(found.created_at, reading.created)
    const has = (name: string) => (events ?? []).some(event => event === name || event.startsWith(`${name}_`))
    yield {
      kind: 'hook',
      url: config.url,
      token: null,
      push_events: has('push'),
      tag_push_events: has('create'),
      issues_events: has('issues'),
      confidential_issues_events: false,
      merge_requests_events: has('pull_request'),
      note_events: has('issue_comment'),
      build_events: false,
      pipeline_events: false,
      wiki_page_events: has('wiki'),
      enable_ssl_verification: true,
      created_at,
      updated_at: created_at
    }
  }
}

async function* variableRecords(reading: Reading): AsyncGenerator<Draft> {
  const { client, created, skipped } = reading
  const list = `${reading.path}/actions/variables`
  for await (const { name, data } of itemsOf(reading, list, checkVariable, { what: 'variable', skipped })) {
    // Version 1.22 shows values only of single variables.
    const single = data ? null : checkVariable((await client.find(`${list}/${encodeURIComponent(name)}`))?.body)
    yield {
      kind: 'variable',
      key: name,
      value: data || (single?.data ?? ''),
      masked: false,
      protected: false,
      environment_scope: '*',
      created_at: created,
      updated_at: created
    }
  }
}
