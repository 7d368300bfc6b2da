// The layout of the sources as tables: which layer may import which, which files may import a package, how large a file may be.
// An import that is not in these tables fails, and so does a line here that is no longer needed.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { root } from '../src/config.js'
import t from './helpers/tap.js'

/** The small files that every layer except `lib` may import. */
const GROUND = ['lib', 'errors', 'config']

/** layer -> the layers that it imports, in addition to the ground. */
const LAYERS: { readonly [layer: string]: readonly string[] } = {
  // The browser goes to a provider and comes back.
  server: ['product', 'areas', 'process', 'text', 'oidc'],
  worker: ['product', 'areas', 'process'],
  cli: ['product', 'areas'],
  product: ['listeners', 'at-once', 'areas'],
  listeners: ['areas'],
  'at-once': ['areas'],
  areas: [
    'access',
    'queue',
    'cluster',
    'ci',
    'runner',
    'webhooks',
    'mail',
    'ldap',
    'oidc',
    'storage',
    'git',
    'text',
    'db'
  ],
  access: ['db'],
  queue: ['cluster', 'db'],
  cluster: ['db'],
  db: [],
  git: [],
  ci: [],
  runner: [],
  webhooks: [],
  mail: [],
  ldap: [],
  text: [],
  oidc: [],
  storage: [],
  lib: [],
  errors: [],
  config: [],
  home: ['owner'],
  listening: [],
  log: [],
  owner: [],
  secrets: [],
  version: [],
  process: ['log']
}

/** The wings from the ground up, each with its areas in order: an area imports only areas before it. */
const WINGS = {
  ground: ['audit', 'settings', 'activity', 'records', 'hooks', 'paths', 'forms'],
  people: ['users', 'credentials', 'groups', 'members', 'identity', 'factors', 'scim'],
  projects: ['projects', 'project-groups', 'services', 'uploads', 'lfs', 'imports', 'ssh', 'snippets'],
  code: ['refs', 'repository', 'history', 'archives', 'browsing', 'mirrors'],
  // The rules of a CI file use the variables of the project, and it may include templates.
  ci: ['templates', 'variables', 'id-tokens', 'pipelines', 'builds', 'environments', 'runners'],
  planning: ['participation', 'labels', 'milestones', 'issues', 'boards', 'merge-requests', 'discussion'],
  reach: ['events', 'mail', 'todos', 'notifications', 'broadcasts', 'accounts', 'replies'],
  upkeep: ['jobs', 'machines', 'removal', 'project-archives', 'lfs', 'maintenance', 'file-moves', 'backup'],
  migrate: ['sources', 'gitlab', 'gitea', 'github', 'runs', 'migrations']
} as const

/** The rooms of the large folders, in the same order. Files outside the rooms are entries or serve all rooms. */
const ROOMS: { readonly [folder: string]: readonly string[] } = {
  git: ['process', 'objects', 'refs', 'history', 'write', 'transport', 'repository'],
  db: ['embedded', 'connect', 'lists', 'ownership', 'models', 'migrations', 'schema', 'snapshot'],
  cli: [
    'input',
    'output',
    'framework',
    'appliance',
    'dashboard',
    'api',
    'doctor',
    'support',
    'topics',
    'reference',
    'commands'
  ]
}
/** A folder with more files than this is two areas, or needs a folder inside. */
const MOST_FILES = 25

/** Additional imports of a layer: module by module, each with its reason. */
const EXCEPTIONS: readonly (readonly [layer: string, module: string, reason: string])[] = [
  ['areas', 'log', 'rules that continue after a failure log it'],
  ['areas', 'secrets', 'tokens are stored as hashes, or encrypted where they are shown again'],
  ['areas', 'version', 'the first line of a trace names the version'],
  ['areas', 'home', 'a backup is restored into a home that the rule makes'],
  ['secrets', 'home', 'the secrets are in the home'],
  ['db', 'home', 'the embedded database is in the home, behind a socket'],
  ['db', 'log', 'logs when the database is lost, and back'],
  ['db', 'secrets', 'the password of the embedded database'],
  ['storage', 'log', 'logs when the bucket is away, and back'],
  ['product', 'git/repository/archive-cache', 'the type of a plug: archives in the bucket'],
  ['product', 'queue/failures', 'the type of a plug: what areas do when their jobs die'],
  ['product', 'storage/traces', 'the type of a plug: traces in rows of the database'],
  ['queue', 'home', 'the sockets that wake workers'],
  ['cluster', 'version', 'the row of a machine has it'],
  ['cluster', 'log', 'logs when a storage gets another owner'],
  ['cluster', 'secrets', 'signs requests between machines'],
  ['server', 'cluster/peers', 'passes requests on to the machine of a repository'],
  ['server', 'cluster/storages', 'knows which machine that is'],
  ['server', 'cluster/repository-elsewhere', 'names the questions of other machines that it answers'],

  ['server', 'access/abilities', 'every route names its action'],
  ['server', 'access/actor', 'the server identifies the caller'],
  ['server', 'access/authorize', 'the gate before every route, and before git over HTTP'],
  ['server', 'access/scopes', 'pages let people choose the scopes of a token'],
  ['server', 'access/words', 'the OpenAPI document says who may call each operation'],
  ['server', 'db/connect/connection', 'closed when the process stops'],
  ['server', 'db/connect/replica', 'which requests may read there; its state is a metric'],
  ['server', 'db/connect/replica-looks', 'the server looks at the replica each second'],
  ['cli', 'db/connect/replica-looks', 'doctor looks at the replica'],
  ['server', 'db/connect/failure', 'the error plugin distinguishes an unavailable database from a fault'],
  ['server', 'git/process/run', 'the error plugin distinguishes a limit of git from a fault'],
  ['server', 'db/ownership/proven', 'what proves a kept answer'],
  ['server', 'db/schema/migrate', 'the appliance brings its schema up to date; readiness checks it'],
  ['server', 'db/lists/paginate', 'the type of a page, whose headers are set here'],
  ['server', 'db/connect/statement-limit', 'statements of requests have a shorter limit'],
  ['server', 'git/repository/processes', 'closed when the process stops'],
  ['server', 'git/objects/reader', 'the number of readers is a metric'],
  ['server', 'git/process/slots', 'the numbers of running and waiting git processes are metrics'],
  ['server', 'git/transport/request-spool', 'git over HTTP reads a request before anything starts for it'],
  ['server', 'git/transport/spool', 'the number of bytes in files is a metric'],
  ['server', 'git/transport/conversation', 'git over SSH is a front door too'],
  ['server', 'git/transport/packet-lists', 'git over SSH finds the end of a push'],
  ['server', 'git/transport/transport', 'git over HTTP is a front door: bytes go through it unchanged'],
  ['server', 'cluster/machines', 'the server renews the lease of its machine, and checks the clock'],
  ['server', 'cluster/machine-rows', 'the number of machines is a metric'],
  ['server', 'queue/metrics', 'Prometheus reads the same numbers as the dashboard'],
  ['server', 'queue/overview', 'Prometheus reads the same numbers as the dashboard'],
  ['server', 'queue/wake', 'closed when the process stops'],
  ['server', 'storage/s3', 'the state of the bucket is a metric, and part of the health answer'],
  ['server', 'storage/direct-downloads', 'which requests may be answered with a URL of the bucket'],
  ['server', 'webhooks/target', 'the start reports a wrong hooks.allow'],
  ['server', 'db/embedded/temporary-tables', 'the health answer uses the same limit for a full disk'],
  ['server', 'home', 'made before the server starts'],
  ['server', 'listening', 'explains an address in use'],
  ['server', 'log', 'the log of the process'],
  ['server', 'secrets', 'seals cookies'],
  ['server', 'version', 'the OpenAPI document names it'],

  ['worker', 'access/actor', 'the schedule is the origin of its changes'],
  ['worker', 'db/connect/connection', 'closed when the process stops'],
  ['worker', 'db/connect/server', 'schedules use the clock of the database'],
  ['worker', 'db/schema/migrate', 'no work on a schema of another version'],
  ['worker', 'git/objects/cache-sizes', 'it keeps fewer objects than the server'],
  ['worker', 'git/repository/processes', 'closed when the process stops'],
  ['worker', 'cluster/storages', 'jobs and tasks go to the machine of their repositories'],
  ['worker', 'queue/enqueue', 'a task continues on the next machine'],
  ['worker', 'queue/claim', 'the loops claim and settle jobs'],
  ['worker', 'queue/history', 'the loops count their jobs, and write the counts with the heartbeats'],
  ['worker', 'queue/jobs', 'every name of a job has a handler here'],
  ['worker', 'cluster/machines', 'the worker renews the lease of its machine, and finds lost ones'],
  ['worker', 'queue/processes', 'the worker renews its lease and finds dead workers'],
  ['worker', 'queue/ticks', 'the schedule enqueues its ticks'],
  ['worker', 'queue/wake', 'the loops are woken'],
  ['worker', 'runner/folders', 'the leftovers of a killed worker are removed at the start'],
  ['worker', 'runner/sandbox', 'the start reports a machine that cannot run builds'],
  ['worker', 'webhooks/events', 'the type of the names of events'],
  ['worker', 'mail/transport', 'closed when the process stops'],
  ['worker', 'home', 'made before the worker starts'],
  ['worker', 'log', 'the log of the process'],

  ['cli', 'ci/status', 'the values of flags that select builds by status'],
  ['cli', 'access/actor', 'a command has an actor, for the audit'],
  ['cli', 'ci/lint', 'a CI file is checked without an appliance'],
  ['cli', 'db/connect/connection', 'closed when the command ends'],
  ['cli', 'db/embedded/embedded', '`up` runs the database; a command starts it for its own run'],
  ['cli', 'db/schema/migrate', '`db migrate`, `db status`, `db rollback`; `status` and `doctor` show its state'],
  ['cli', 'db/schema/shape', '`doctor` compares the schema with the migrations'],
  ['cli', 'db/migrations/list', '`doctor` makes its scratch schema again when the migrations change; loaded on demand'],
  ['cli', 'storage/bucket-trial', '`doctor` tries the bucket; loaded on demand'],
  ['cli', 'storage/places', '`doctor` names the bucket'],
  ['cli', 'db/schema/rollback', '`db rollback` shows what it removes, and which processes are running'],
  ['cli', 'db/connect/server', '`doctor` reads the version and the time of the database'],
  ['cli', 'git/repository/processes', 'closed when the command ends'],
  ['cli', 'cluster/storages', 'commands use only the repositories of their machine'],
  ['cli', 'queue/jobs', 'completions offer the names of queues and jobs'],
  ['cli', 'queue/administer', '`jobs list` and `show` read the queue'],
  ['cli', 'cluster/machine-rows', '`machines list` and `doctor` read the machines'],
  ['cli', 'cluster/storage-rows', '`storages list` reads them'],
  ['cli', 'cluster/machines', '`doctor` knows the machine of its own home'],
  ['cli', 'queue/search', 'the dashboard searches among all jobs'],
  ['cli', 'queue/inspect', '`doctor` looks for jobs that no worker runs'],
  ['cli', 'queue/processes', '`doctor --fix` returns the jobs of dead workers to the queue, as a worker does'],
  ['cli', 'queue/metrics', '`jobs stats` and `status` read the same numbers as the API'],
  ['cli', 'queue/wake', 'closed when the command ends'],
  ['cli', 'runner/sandbox', '`doctor` tries the sandbox'],
  ['cli', 'runner/docker/engine', '`doctor` distinguishes an unavailable engine from one that refuses'],
  ['cli', 'runner/docker/version', '`doctor` reads the version of the engine'],
  ['cli', 'webhooks/events', '`hooks events` lists them'],
  ['cli', 'webhooks/operations', '`hooks events` shows which operations emit each event'],
  ['cli', 'webhooks/target', '`doctor` reads hooks.allow'],
  ['cli', 'webhooks/url', 'URLs are printed without the passwords in them'],
  ['cli', 'server/app', '`openapi` prints the document of the application; loaded on demand'],
  ['cli', 'git/process/run', '`info` shows the version of git'],
  ['cli', 'mail/faults', '`mail test` distinguishes an unavailable server from one that refuses'],
  ['cli', 'oidc/probe', '`doctor` tries each provider; loaded on demand'],
  ['cli', 'oidc/provider', '`doctor` tries each provider; loaded on demand'],
  ['cli', 'mail/transport', '`doctor` connects to the mail server'],
  ['cli', 'owner', '`up --user` gives it a new home'],
  ['cli', 'db/embedded/temporary-tables', '`status` uses the same limit for a full disk'],
  ['cli', 'home', '`up` makes it'],
  ['cli', 'listening', '`up` and `doctor` try to listen at the address'],
  ['cli', 'log', '`up` logs about its processes'],
  ['cli', 'version', '`status` tells it']
]

/** package -> the files that may import it; `**` is any file below a folder. */
const PACKAGES: readonly (readonly [name: RegExp, files: readonly RegExp[]])[] = [
  [/^(fastify|@fastify\/)/, [/^server\//, /^areas\/[^/]+\/[^/]+\/[^/]+\.routes$/]],
  [/^(@oclif\/|oclif|ink|react)/, [/^cli\//]],
  [/^(sequelize|mysql2|umzug)/, [/^db\//, /^areas\/projects\/projects\/projects$/]],
  [/^node-cron$/, [/^worker\/schedule$/]],
  [/^simple-git$/, [/^git\/process\/run$/]],
  [/^openid-client$/, [/^oidc\/provider$/]],
  [/^@node-oauth\//, [/^areas\/people\/credentials\/oauth\//]],
  [/^(otplib|@simplewebauthn\/)/, [/^areas\/people\/factors\//]],
  [/^eta$/, [/^server\/pages\/page$/, /^mail\/render$/]],
  [
    /^ssh2$/,
    [
      /^areas\/people\/users\/ssh-public-key$/,
      /^areas\/projects\/ssh\/host-keys$/,
      /^areas\/code\/mirrors\/ssh-door$/,
      /^server\/ssh\//
    ]
  ],
  [/^nodemailer/, [/^mail\//]],
  [/^markdown-it$/, [/^text\/(markdown|html|page-html|prose)$/]],
  [/^prom-client$/, [/^server\/(appliance-)?metrics$/]],
  // All other files import lib/type, which loads nothing.
  [/^typebox$/, [/^lib\/type$/]]
]

/** Files that start processes, with the programs that they start. */
const STARTERS: { readonly [file: string]: string } = {
  'git/process/run': 'git; no other file starts it',
  'git/process/starter/starter': 'the small program that starts git for the large program',
  'git/process/starter/program': 'git, for the large program',
  'text/task-thread': 'the threads for long texts and for passwords',
  'text/thread': 'the program of the thread that reads long texts',
  'text/passwords/thread': 'the program of the thread that judges passwords',
  'runner/shell': 'the scripts of builds in their sandbox',
  'storage/hashing': 'the threads that hash large uploads',
  'storage/hash-program': 'the program of these threads',
  'storage/sync': 'sync: a backup is on the disk before it counts as finished',
  'runner/disk': 'counts the files of a build',
  'runner/folder-locks': 'Node.js cannot lock a file',
  'runner/folders': 'removes the leftovers of a build as its own user',
  'mail/sendmail': 'sendmail, if the configuration says so',
  'db/embedded/embedded': 'the embedded database',
  'db/embedded/folder': 'its bootstrap',
  'cli/appliance/supervisor': 'the processes of the appliance',
  'cli/doctor/programs': '`doctor` asks programs for their versions',
  owner: 'test, as a user: whether that user can read the program'
}

/** Files other than config.ts that read the environment. */
const ENVIRONMENT: { readonly [file: string]: string } = {
  'git/process/environment': 'only PATH: git gets an environment that we make',
  'runner/sandbox': 'only PATH, to find bubblewrap',
  listening: 'the sockets that a service manager passes',
  owner: 'the home and the name of the user whom root becomes, for its children',
  'cli/main': 'only PATH, to find mariadbd of Debian',
  'cli/appliance/appliance': 'passes its own environment on to its children',
  'cli/appliance/ssh-serve': 'variables of an OpenSSH server about its client',
  'cli/dashboard/environment': 'NO_COLOR, TERM and GITSTEAD_TOKEN are not settings of the appliance',
  'cli/appliance/run-process': 'the flags of `server` and `worker` reach the process as their environment'
}

const LARGE = 250
const TOO_LARGE = 400

interface Source {
  /** The path below src, without its extension. */
  readonly name: string
  readonly layer: string
  readonly text: string
  readonly lines: number
  readonly imports: readonly { target: string; dynamic: boolean }[]
  readonly packages: readonly string[]
}

const folder = join(root, 'src')
const sources = filesOf(folder).map(read)
const byName = new Map(sources.map(source => [source.name, source]))

function filesOf(path: string): string[] {
  return readdirSync(path, { withFileTypes: true }).flatMap(entry => {
    const inner = join(path, entry.name)
    if (entry.isDirectory()) return filesOf(inner)
    return /\.tsx?$/.test(entry.name) ? [inner] : []
  })
}

function read(path: string): Source {
  const text = readFileSync(path, 'utf8')
  const name = path.slice(folder.length + 1).replace(/\.tsx?$/, '')
  const found = [...text.matchAll(/(?:^(?:import|export)\b[^'"`;]*? from |^import |(import)\()'([^']+)'/gm)].map(
    ([, dynamic, specifier]) => ({ dynamic: dynamic !== undefined, specifier: specifier ?? '' })
  )
  const own = found.filter(({ specifier }) => specifier.startsWith('.'))
  return {
    name,
    layer: layerOf(name),
    text,
    lines: text.trimEnd().split('\n').length,
    imports: own.map(({ specifier, dynamic }) => ({
      target: normalize(join(dirname(name), specifier)).replace(/\.js$/, ''),
      dynamic
    })),
    packages: found.map(({ specifier }) => specifier).filter(specifier => !specifier.startsWith('.'))
  }
}

function layerOf(name: string): string {
  return name.split('/', 1)[0] ?? ''
}

const edges = sources.flatMap(({ name, layer, imports }) =>
  imports.map(({ target, dynamic }) => ({ name, layer, target, to: layerOf(target), dynamic }))
)

t.test('every import is of a file that exists, and every file is in a layer', async t => {
  t.ok(sources.length > 100, 'the sources are found')
  t.same(
    edges.filter(({ target }) => !byName.has(target)).map(({ name, target }) => `${name} -> ${target}`),
    []
  )
  t.same(
    sources.filter(({ layer }) => !Object.hasOwn(LAYERS, layer)).map(({ name }) => name),
    []
  )
})

t.test('no layer imports more than the tables allow', async t => {
  const excepted = (layer: string, module: string) => EXCEPTIONS.some(([a, b]) => a === layer && b === module)
  const allowed = (layer: string, to: string) =>
    layer === to || (layer !== 'lib' && layer !== 'errors' && GROUND.includes(to)) || LAYERS[layer]?.includes(to)
  const others = edges.filter(({ layer, to, target }) => !allowed(layer, to) && !excepted(layer, target))
  t.same(
    others.map(({ name, target }) => `${name} -> ${target}`),
    []
  )
  t.same(
    EXCEPTIONS.filter(([layer, module]) => !edges.some(edge => edge.layer === layer && edge.target === module)),
    [],
    'every exception is needed'
  )
})

t.test('nothing imports a front door, except the commands that become one', async t => {
  const doors = edges.filter(({ layer, to }) => ['server', 'worker', 'cli'].includes(to) && layer !== to)
  t.same(
    doors.filter(({ layer, dynamic }) => layer !== 'cli' || !dynamic).map(({ name, target }) => `${name} -> ${target}`),
    []
  )
})

t.test('nothing registers itself by being imported, and product.ts fills every plug', async t => {
  const bare = sources.filter(({ text }) => /^import ['"]/m.test(text))
  t.same(
    bare.map(({ name }) => name),
    []
  )
  const plugs = /^export const (\w+) =\s+plug<[^(]*\(\s*'(\w+)'/gm
  const made = sources.flatMap(({ text }) => [...text.matchAll(plugs)].map(([, name, key]) => [name, key].join(' ')))
  const table = /^interface Plugs \{([^}]*)\}/m.exec(byName.get('product')?.text ?? '')?.[1] ?? ''
  const filled = [...table.matchAll(/readonly (\w+): typeof (\w+)/g)].map(([, key, name]) => [name, key].join(' '))
  t.ok(made.length > 0)
  t.same([...made].sort(), [...filled].sort())
})

t.test('lib imports nothing of the sources', async t => {
  t.same(
    edges.filter(({ layer, to }) => layer === 'lib' && to !== 'lib').map(({ name, target }) => `${name} -> ${target}`),
    []
  )
})

const AREAS = Object.entries(WINGS).flatMap(([wing, areas]) => areas.map(area => `${wing}/${area}`))
const areaOf = (name: string) => /^areas\/([^/]+\/[^/]+)\//.exec(name)?.[1]

t.test('every area is in its wing, and imports only areas before it', async t => {
  const areas = new Set(sources.filter(({ layer }) => layer === 'areas').map(({ name }) => areaOf(name) ?? name))
  t.same([...areas].sort(), [...AREAS].sort(), 'WINGS lists every area: add it after all that it imports')
  t.same(upwards(edges, AREAS, areaOf), [])
})

t.test('every wing has a README that lists its areas in their order', async t => {
  for (const [wing, areas] of Object.entries(WINGS)) {
    const text = readFileSync(join(folder, `areas/${wing}/README.md`), 'utf8')
    t.ok(text.includes(`- **Areas**, in this order: ${areas.join(', ')}.`), wing)
  }
})

for (const [folder, rooms] of Object.entries(ROOMS)) {
  t.test(`every room of ${folder} imports only rooms before it`, async t => {
    const roomOf = (name: string) => new RegExp(`^${folder}/([^/]+)/`).exec(name)?.[1]
    const found = new Set(sources.flatMap(({ name }) => roomOf(name) ?? []))
    t.same([...found].sort(), [...rooms].sort(), 'ROOMS lists every room')
    t.same(upwards(edges, rooms, roomOf), [])
  })
}

/** The imports from a place to a later one. */
function upwards(
  among: readonly { name: string; target: string }[],
  order: readonly string[],
  placeOf: (name: string) => string | undefined
): string[] {
  const heightOf = (name: string) => order.indexOf(placeOf(name) ?? '')
  return among
    .filter(({ name, target }) => heightOf(name) !== -1 && heightOf(target) > heightOf(name))
    .map(({ name, target }) => `${name} -> ${target}`)
}

t.test('no folder is crowded', async t => {
  const counts = new Map<string, number>()
  for (const { name } of sources.filter(({ name }) => !/^(db\/migrations|lib)\//.test(name))) {
    counts.set(dirname(name), (counts.get(dirname(name)) ?? 0) + 1)
  }
  t.same(
    [...counts].filter(([, files]) => files > MOST_FILES),
    []
  )
})

t.test('an area imports rules, queries and views of another area, never its routes or schema', async t => {
  const across = edges.filter(({ name, target }) => areaOf(name) && areaOf(target) && areaOf(name) !== areaOf(target))
  t.ok(across.length > 0)
  t.same(
    across.filter(({ target }) => /\.(routes|schema)$/.test(target)).map(({ name, target }) => `${name} -> ${target}`),
    []
  )
  t.same(
    edges
      .filter(({ name, target }) => target.endsWith('.routes') && name !== 'server/routes')
      .map(({ name, target }) => `${name} -> ${target}`),
    [],
    'only server/routes.ts registers routes'
  )
})

t.test('no file imports itself through others', async t => {
  t.same(cycles(), [])
})

/** Every cycle as the path that closes it. Types count: an import that is erased today may be a value tomorrow. */
function cycles(): string[] {
  const found: string[] = []
  const done = new Set<string>()
  const visit = (name: string, path: string[]): void => {
    const at = path.indexOf(name)
    if (at !== -1) {
      found.push([...path.slice(at), name].join(' -> '))
      return
    }
    if (done.has(name)) return
    for (const { target } of byName.get(name)?.imports ?? []) visit(target, [...path, name])
    done.add(name)
  }
  for (const { name } of sources) visit(name, [])
  return found
}

t.test('no index files, except for the models', async t => {
  t.same(
    sources.filter(({ name }) => /(^|\/)index$/.test(name)).map(({ name }) => name),
    ['db/models/index']
  )
})

t.test('packages stay where they belong', async t => {
  for (const [name, files] of PACKAGES) {
    const strays = sources.filter(
      source => source.packages.some(used => name.test(used)) && !files.some(file => file.test(source.name))
    )
    t.same(
      strays.map(source => source.name),
      [],
      String(name)
    )
  }
})

t.test('only one file reads the address of a client, which may be any text', async t => {
  const strays = sources.filter(({ text }) => /\b(request|req|this)\.ips?\b|\(\{[^}]*\bips?\b[^}]*\}/.test(text))
  t.same(
    strays.map(({ name }) => name),
    ['server/client-address'],
    'others use request.address'
  )
})

t.test('few files start processes', async t => {
  const starters = sources.filter(({ packages }) =>
    packages.some(name => /child_process|worker_threads|cluster/.test(name))
  )
  t.same(starters.map(({ name }) => name).sort(), Object.keys(STARTERS).sort())
})

t.test('config.ts reads the environment', async t => {
  const readers = sources.filter(({ name, text }) => name !== 'config' && /\bprocess\.env\b|\{ env \}/.test(text))
  t.same(readers.map(({ name }) => name).sort(), Object.keys(ENVIRONMENT).sort())
})

t.test('SQL is in areas, queue, cluster and db; front doors do not use models', async t => {
  const strays = edges.filter(
    ({ layer, target }) =>
      /^db\/(sql|transact|models\/)/.test(target) && !['areas', 'queue', 'cluster', 'access', 'db'].includes(layer)
  )
  t.same(
    strays.map(({ name, target }) => `${name} -> ${target}`),
    []
  )
  const hasSql = /['"`]\s*(select|insert( ignore)? into|update|delete from)\s[^'"`]*\b(from|values|set|where)\b/
  t.same(
    sources
      // The effective level is a fragment that the statements of several areas share.
      .filter(({ name }) => name !== 'access/membership' && name !== 'access/reach')
      .filter(({ layer, text }) => !['areas', 'queue', 'cluster', 'db'].includes(layer) && hasSql.test(text))
      .map(({ name }) => name),
    []
  )
})

t.test(
  'values remembered from rows are forgotten with the pool: forgetWithPool of db/connect/connection.ts',
  async t => {
    const forgetful = sources.filter(
      ({ layer, text }) =>
        ['areas', 'queue', 'db'].includes(layer) &&
        /^const .*(new LRUCache|lruOf)/m.test(text) &&
        !text.includes('forgetWithPool')
    )
    t.same(
      forgetful.map(({ name }) => name),
      []
    )
  }
)

t.test('files are small', async t => {
  const size = ({ name, lines }: Source) => `${name} ${lines}`
  const large = sources.filter(({ lines }) => lines > LARGE)
  if (large.length > 0) t.comment(`think again: ${large.map(size).join(', ')}`)
  t.same(large.filter(({ lines }) => lines > TOO_LARGE).map(size), [])
})

t.test('the layout is as described', async t => {
  for (const layer of [
    'areas',
    'access',
    'db',
    'git',
    'queue',
    'ci',
    'runner',
    'webhooks',
    'storage',
    'lib',
    'server',
    'worker',
    'cli'
  ]) {
    t.ok(existsSync(join(folder, layer)), layer)
  }
  t.same(
    sources
      // A command has the name that people use.
      .filter(({ name }) => name !== 'cli/commands/info')
      .filter(({ name }) => /(^|[/.-])(utils?|helpers?|managers?|data|info|common)([/.-]|$)/.test(name))
      .map(({ name }) => name),
    [],
    'no file has a name without meaning'
  )
})
