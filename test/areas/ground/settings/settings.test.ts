import { SETTING_NAMES, settingsTable } from '../../../../src/areas/ground/settings/settings.table.js'
import { execute, row, rows } from '../../../../src/db/connect/sql.js'
import { revision, version } from '../../../../src/version.js'
import { testApp } from '../../../helpers/app.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const SETTINGS = '/application/settings'

const app = await testApp(t)
const root = await app.make.admin()
const admin = app.as(root)
const put = (body: object) => admin.put(SETTINGS, body)
const get = async () => (await admin.get(SETTINGS)).json()
const stored = async () =>
  JSON.parse((await row<{ changed: string }>('select changed from application_settings'))?.changed ?? '')
const audits = () =>
  rows<{ changes: string; actor_name: string; target_type: string }>(
    "select changes, actor_name, target_type from audit_events where action = 'settings.update' order by id"
  )
/** Sets all defaults again, because no test may depend on the order of the tests. */
const reset = () => execute("update application_settings set changed = '{}'")
t.beforeEach(reset)

/** The defaults of the requirement; where it gives none, those of the table. */
const DEFAULTS = {
  default_projects_limit: 10,
  signup_enabled: true,
  signin_enabled: true,
  avatar_service_enabled: true,
  sign_in_text: null,
  after_sign_up_text: null,
  home_page_url: null,
  default_branch_protection: 2,
  restricted_visibility_levels: null,
  max_attachment_size: 10,
  session_expire_delay: 10080,
  default_project_visibility: 0,
  default_snippet_visibility: 0,
  default_group_visibility: 0,
  domain_whitelist: null,
  domain_blacklist_enabled: false,
  domain_blacklist: [],
  user_oauth_applications: true,
  disabled_oauth_sign_in_sources: [],
  after_sign_out_path: null,
  container_registry_token_expire_delay: 5,
  repository_storages: ['default'],
  repository_storage: 'default',
  enabled_git_access_protocol: null,
  ide_enabled: false,
  ide_url: null,
  diagram_enabled: false,
  diagram_url: null
}

const CHANGED = {
  default_projects_limit: 3,
  signup_enabled: false,
  signin_enabled: false,
  avatar_service_enabled: false,
  sign_in_text: 'Welcome <b>home</b>\nsecond line',
  after_sign_up_text: 'Look into your mail',
  home_page_url: 'https://example.org/home?a=b',
  default_branch_protection: 0,
  restricted_visibility_levels: [1, 2],
  max_attachment_size: 20,
  session_expire_delay: 60,
  default_project_visibility: 1,
  default_snippet_visibility: 2,
  default_group_visibility: 1,
  domain_whitelist: ['example.org', '*.example.com'],
  domain_blacklist_enabled: true,
  domain_blacklist: ['spam.example'],
  user_oauth_applications: false,
  disabled_oauth_sign_in_sources: ['somewhere'],
  after_sign_out_path: '/users/sign_in',
  container_registry_token_expire_delay: 15,
  repository_storages: ['default'],
  enabled_git_access_protocol: 'http',
  ide_enabled: true,
  ide_url: 'https://ide.example.org',
  diagram_enabled: true,
  diagram_url: 'http://diagrams.example.org:8080/x'
}

t.test('GET shows every setting with its default', async t => {
  const found = await get()
  t.match(found, { id: 1, created_at: DATE_TIME, updated_at: DATE_TIME })
  const { id, created_at, updated_at, ...settings } = found
  t.same(settings, DEFAULTS)
  t.same(Object.keys(CHANGED), SETTING_NAMES, 'and the cases here are all there are')
})

t.test('PUT changes each setting, and GET shows it', async t => {
  const res = await put(CHANGED)
  t.equal(res.statusCode, 200)
  t.match(res.json(), CHANGED)
  const { updated_at, ...found } = await get()
  t.match(found, CHANGED)
  t.equal(updated_at, res.json().updated_at)
})

t.test('settings that are not given stay, and unknown ones are ignored', async t => {
  await put({ max_attachment_size: 7, default_projects_limit: 2 })
  t.match((await put({ default_projects_limit: 4, id: 9, created_at: 'x', is_admin: true })).json(), {
    id: 1,
    created_at: DATE_TIME,
    max_attachment_size: 7,
    default_projects_limit: 4
  })
  t.same(await stored(), { default_projects_limit: 4, max_attachment_size: 7 })
})

t.test('the database stores only settings that differ from their defaults, and those of a newer version', async t => {
  await execute(`update application_settings set changed = '{"of_tomorrow":[1],"max_attachment_size":3}'`)
  t.equal((await get()).max_attachment_size, 3)
  t.notOk('of_tomorrow' in (await get()))
  await put({ signup_enabled: false })
  await put({ max_attachment_size: 10 })
  t.same(await stored(), { of_tomorrow: [1], signup_enabled: false })
})

t.test('after somebody has emptied the table, the defaults apply, and changes work', async t => {
  await execute('delete from application_settings')
  t.match(await get(), DEFAULTS)
  t.match((await put({ max_attachment_size: 4 })).json(), { max_attachment_size: 4, updated_at: DATE_TIME })
})

t.test('forms: switches as words, lists as a[], and the empty list', async t => {
  const form = async (payload: string) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const res = await admin.inject({ method: 'PUT', url: `/api/v3${SETTINGS}`, headers, payload })
    t.equal(res.statusCode, 200, payload)
    return res.json()
  }
  t.match(await form('signup_enabled=no&restricted_visibility_levels[]=0&restricted_visibility_levels[]=2'), {
    signup_enabled: false,
    restricted_visibility_levels: [0, 2]
  })
  t.match(await form('domain_whitelist[]=a.example&domain_whitelist[]=*.b.example'), {
    domain_whitelist: ['a.example', '*.b.example']
  })
  t.same((await form('restricted_visibility_levels[]=')).restricted_visibility_levels, [])
  t.equal((await form('sign_in_text=Hi+there')).sign_in_text, 'Hi there')
  t.equal((await form('sign_in_text=')).sign_in_text, null, 'a blank text means null')
  t.equal((await form('enabled_git_access_protocol=ssh')).enabled_git_access_protocol, 'ssh')
  t.equal((await form('enabled_git_access_protocol=nil')).enabled_git_access_protocol, null)
})

t.test('PUT takes its parameters from the query as well', async t => {
  const res = await admin.put(`${SETTINGS}?domain_whitelist[]=x.example&max_attachment_size=30`)
  t.match(res.json(), { domain_whitelist: ['x.example'], max_attachment_size: 30 })
})

t.test('null means no value, for settings that may be null', async t => {
  await put({ domain_whitelist: ['x.example'], home_page_url: 'http://x.example', restricted_visibility_levels: [0] })
  const none = { domain_whitelist: null, home_page_url: null, restricted_visibility_levels: null }
  t.match((await put(none)).json(), none)
  t.equal((await put({ signup_enabled: null })).statusCode, 400, 'else it was not given')
})

t.test('an empty PUT names the possible parameters', async t => {
  for (const body of [{}, { unknown: 1 }]) {
    const res = await put(body)
    t.equal(res.statusCode, 400)
    const { error } = res.json()
    t.match(error, /^default_projects_limit, signup_enabled, .* are missing, at least one parameter must be provided$/)
    for (const name of [...SETTING_NAMES, 'repository_storage']) t.match(error, name)
  }
})

const TEXT = 'x'.repeat(10_001)
const wrong: [string, object, string][] = [
  ['a list for a number', { default_projects_limit: [1] }, 'default_projects_limit is invalid'],
  ['an object for a number', { max_attachment_size: { a: 1 } }, 'max_attachment_size is invalid'],
  ['a fraction', { session_expire_delay: 1.5 }, 'session_expire_delay is invalid'],
  ['a word for a number', { default_projects_limit: 'many' }, 'default_projects_limit is invalid'],
  ['a word for a switch', { signin_enabled: 'perhaps' }, 'signin_enabled is invalid'],
  ['a list for a switch', { signin_enabled: [true] }, 'signin_enabled is invalid'],
  ['a list for a text', { sign_in_text: ['a'] }, 'sign_in_text is invalid'],
  ['an object for a text', { sign_in_text: { a: 'b' } }, 'sign_in_text is invalid'],
  ['a level of projects', { default_project_visibility: 20 }, 'default_project_visibility does not have a valid value'],
  ['an unknown level', { default_branch_protection: 4 }, 'default_branch_protection does not have a valid value'],
  [
    'an unknown restricted level',
    { restricted_visibility_levels: [0, 10] },
    'restricted_visibility_levels does not have a valid value'
  ],
  ['a level twice', { restricted_visibility_levels: [0, 0] }, 'restricted_visibility_levels is invalid'],
  [
    'lists in a list',
    { restricted_visibility_levels: [[0]] },
    'restricted_visibility_levels does not have a valid value'
  ],
  ['an object for a list', { domain_whitelist: { a: 'b' } }, 'domain_whitelist is invalid'],
  ['objects in a list', { domain_whitelist: [{ a: 'b' }] }, 'domain_whitelist is invalid'],
  ['no domain', { domain_blacklist: ['a b'] }, 'domain_blacklist is invalid'],
  [
    'more domains than any list has',
    { domain_blacklist: Array(1001).fill('x.example') },
    'domain_blacklist is invalid'
  ],
  [
    'an unknown protocol',
    { enabled_git_access_protocol: 'ftp' },
    'enabled_git_access_protocol does not have a valid value'
  ],
  ['no storage at all', { repository_storages: [] }, 'repository_storages is invalid'],
  ['an unknown storage', { repository_storage: 'elsewhere' }, 'repository_storage does not have a valid value'],
  [
    'two storages that disagree',
    { repository_storage: 'default', repository_storages: ['other', 'default'] },
    'repository_storages, repository_storage are mutually exclusive'
  ],
  ['a blacklist without its domains', { domain_blacklist_enabled: true }, 'domain_blacklist is missing'],
  ['an IDE without its URL', { ide_enabled: true }, 'ide_url is missing'],
  ['diagrams without their URL', { diagram_enabled: 'yes' }, 'diagram_url is missing']
]
for (const [what, body, error] of wrong) {
  t.test(`refuses ${what}`, async t => {
    const res = await put({ max_attachment_size: 3, ...body })
    t.equal(res.statusCode, 400)
    t.equal(res.json().error, error)
    t.same(await stored(), {}, 'and changes nothing')
  })
}

const invalid: [string, object, object][] = [
  [
    'a number below its least',
    { default_projects_limit: -1 },
    { default_projects_limit: ['must be greater than or equal to 0'] }
  ],
  [
    'a number beyond its largest',
    { default_projects_limit: 2 ** 31 },
    { default_projects_limit: ['must be less than or equal to 2147483647'] }
  ],
  [
    'sessions of no length',
    { session_expire_delay: 0 },
    { session_expire_delay: ['must be greater than or equal to 1'] }
  ],
  [
    'a storage that is not configured',
    { repository_storages: ['default', 'x'] },
    { repository_storages: ["can't include: x"] }
  ],
  [
    'an empty blacklist',
    { domain_blacklist_enabled: true, domain_blacklist: [] },
    { domain_blacklist: ["can't be blank"] }
  ],
  ['a long text', { sign_in_text: TEXT }, { sign_in_text: ['is too long (maximum is 10000 characters)'] }],
  ['a blank URL for an IDE', { ide_enabled: true, ide_url: '' }, { ide_url: ["can't be blank"] }],
  ...[
    'javascript:alert(1)',
    'ftp://x',
    'nowhere',
    '//x.example',
    'http://',
    'http:x',
    'https://u:p@x.example',
    'https://x.example/\r\nSet-Cookie: a=b',
    'https://bücher.example'
  ].map(
    url =>
      [`${url} as a home page`, { home_page_url: url }, { home_page_url: ['must be a valid URL'] }] as [
        string,
        object,
        object
      ]
  ),
  ...['//evil.example', '/\\evil.example', '/\t/evil.example', '/a b', 'javascript:x', 'users', '/a\r\nb'].map(
    path =>
      [
        `${JSON.stringify(path)} after signing out`,
        { after_sign_out_path: path },
        { after_sign_out_path: ['must be a valid URL'] }
      ] as [string, object, object]
  ),
  [
    'the start page as home page',
    { home_page_url: 'http://127.0.0.1:0/' },
    { home_page_url: ['is the start page itself'] }
  ],
  [
    'several at once',
    { diagram_url: 'x', ide_url: 'y' },
    { diagram_url: ['must be a valid URL'], ide_url: ['must be a valid URL'] }
  ]
]
for (const [what, body, message] of invalid) {
  t.test(`refuses ${what}`, async t => {
    const res = await put(body)
    t.equal(res.statusCode, 400)
    t.same(res.json().message, message)
    t.same(await stored(), {})
  })
}

t.test('the setting that a switch needs may have its value already, and keeps one while the switch is on', async t => {
  await put({ ide_url: 'https://ide.example.org' })
  t.equal((await put({ ide_enabled: true })).statusCode, 200)
  t.same((await put({ ide_url: null })).json().message, { ide_url: ["can't be blank"] })
  t.equal((await put({ ide_url: null, ide_enabled: false })).statusCode, 200)
})

t.test('a record that a client sends back unchanged changes nothing', async t => {
  await put(CHANGED)
  const before = await get()
  const audited = (await audits()).length
  t.same((await put(before)).json(), before)
  t.equal((await audits()).length, audited, 'and is no change in the audit')
})

t.test('the audit has only the settings that changed', async t => {
  await put({ max_attachment_size: 12, signup_enabled: true, sign_in_text: 'Hello' })
  const last = (await audits()).at(-1)
  t.match(last, { actor_name: root.username, target_type: 'settings' })
  t.same(JSON.parse(last?.changes ?? ''), {
    max_attachment_size: { before: 10, after: 12 },
    sign_in_text: { before: null, after: 'Hello' }
  })
})

t.test('concurrent changes do not undo each other', async t => {
  const bodies = [
    { default_projects_limit: 1 },
    { max_attachment_size: 2 },
    { session_expire_delay: 3 },
    { container_registry_token_expire_delay: 4 },
    { sign_in_text: '5' },
    { signup_enabled: false }
  ]
  const all = await Promise.all(bodies.map(put))
  t.same(
    all.map(({ statusCode }) => statusCode),
    bodies.map(() => 200)
  )
  t.match(await get(), Object.assign({}, ...bodies))
})

t.test('a read takes one statement', async t => {
  const { applicationSettings } = await import('../../../../src/areas/ground/settings/settings.queries.js')
  t.equal(await countStatements(applicationSettings), 1)
})

t.test('the table has a line for each', async t => {
  for (const [name, { meaning, enforced }] of Object.entries(settingsTable)) {
    t.ok(meaning.length > 10 && !/[\n|]/.test(meaning), name)
    t.notMatch(enforced ?? '', /[\n|]/)
  }
})

t.test('the version is that of the program', async t => {
  t.same((await admin.get('/version')).json(), { version, revision })
  t.match(revision, /^([0-9a-f]{10}|unknown)$/)
})
