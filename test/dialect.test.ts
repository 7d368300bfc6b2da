// One dialect of TypeScript in all folders, as far as regular expressions can check it: interfaces for records, their fields
// readonly, constants of modules in UPPER_CASE. Biome checks the rest.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../src/config.js'
import t from './helpers/tap.js'

/** Interfaces with fields or arrays that change after the record was made, each with its reason. */
const WRITTEN: { readonly [place: string]: string } = {
  'areas/upkeep/backup/check-restored Findings': 'the checks add to it while they run',
  'areas/upkeep/backup/reset-refs News': 'collected row by row',
  'areas/ci/pipelines/locked-pipeline LockedPipeline': 'its counts are kept in memory until all changes are made',
  'cluster/silence Peer': 'each look and each sign of life changes it',
  'cluster/silence Waiting': 'each look notes what has come',
  'areas/upkeep/backup/unit Totals': 'counted up with each file',
  'areas/upkeep/project-archives/loading Loading': 'filled record by record',
  'areas/ci/runners/external/masked-traces OpenTrace': 'grows with each request',
  'areas/ci/runners/external/take KnownRunner': 'keeps the value of its last search without a result',
  'ci/config Messages': 'collected while the file is read',
  'ci/load-yaml Context': 'counts down with each value',
  'ci/pattern Budget': 'counts down with each instruction',
  'ci/pattern Search': 'the slots change with each step',
  'ci/pattern-syntax Cursor': 'moves through the text',
  'ci/resolve/include Pass': 'counts down with each file',
  'ci/resolve/inputs Filling': 'counts down with each value that is filled in',
  'ci/resolve/merge MergeBudget': 'counts down with each value',
  'ci/rules/expression Cursor': 'moves through the text',
  'cli/api/fields Node': 'filled field by field',
  'cli/dashboard/panes/list Piece': 'grows while neighbours are joined',
  'cli/appliance/folder-size FolderSize': 'the walk through the folder adds to it',
  'cli/appliance/folder-size Walk': 'the folders that are not read yet',
  'cli/reference/tree Branch': 'grows word by word',
  'db/connect/scope Scope': 'filled until the transaction ends',
  'db/connect/sequelize Opened': 'a transaction of Sequelize',
  'git/process/pool Entry': 'the process is set later than its entry',
  'git/transport/spool Reading': 'moves through the stream',
  'git/write/tree-edit Folder': 'a tree is edited in memory',
  'git/write/tree-edit Slot': 'a tree is edited in memory',
  'lib/request-scope Reading': 'filled while a request makes its answer',
  'lib/request-scope RequestScope': 'gets its reading when the answer may be kept',
  'queue/history Count': 'counted up with each job',
  'queue/metrics ProcessMetrics': 'the schemas of the responses need arrays that are not readonly',
  'runner/disk DiskWatch': 'the sum changes with each look',
  'runner/shell Reading': 'its state changes with each chunk',
  'server/openapi/document Content': 'the document is finished in place',
  'server/openapi/document Document': 'the document is finished in place',
  'server/openapi/document Response': 'the document is finished in place',
  'server/openapi/document Operation': 'the document is finished in place',
  'areas/people/scim/scim.routes FastifyRequest': 'a hook sets the directory',
  'server/plugins/access FastifyRequest': 'a hook sets the project and the group',
  'server/plugins/bounds Client': 'goes up and down with its requests',
  'server/plugins/input FastifyRequest': 'a hook sets the credentials of the body',
  'server/plugins/kept-answers FastifyRequest': 'Fastify decorates requests',
  'server/plugins/versions FastifyReply': 'Fastify decorates replies',
  'server/plugins/authenticate FastifyRequest': 'a hook sets the actor',
  'server/ssh/session Asked': 'the fields for the log are set while the command runs',
  'server/pages/page-routes FastifyRequest': 'a hook sets the visitor'
}

interface Source {
  /** The path below src, without its extension. */
  readonly name: string
  /** Without comments. */
  readonly text: string
}

interface Block {
  readonly name: string
  readonly body: string
  /** The text after the closing brace. */
  readonly rest: string
}

const folder = join(root, 'src')
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter(path => /\.tsx?$/.test(path))
  .map(path => ({ name: path.replace(/\.tsx?$/, ''), text: withoutComments(readFileSync(join(folder, path), 'utf8')) }))

function withoutComments(text: string): string {
  return text.replace(/\/\*\*?\s.*?\*\//gs, '').replace(/^\s*\/\/.*$/gm, '')
}

/** The blocks in braces that begin with `start`, whose first group is their name. */
function blocks(text: string, start: RegExp): Block[] {
  return [...text.matchAll(start)].map(match => {
    const from = match.index + match[0].length
    let at = from
    for (let depth = 1; depth > 0 && at < text.length; at++) {
      if (text[at] === '{') depth++
      if (text[at] === '}') depth--
    }
    return { name: match[1] ?? '', body: text.slice(from, at - 1), rest: text.slice(at) }
  })
}

const INTERFACE = /^\s*(?:export )?interface (\w+)[^{]*\{/gm
const FIELD = /(?<=^|[{;\n])\s*(readonly )?(?:\w+|'[^']+'|\[\w+: \w+\])\??:\s([^;\n{}]*)/g
const WRITABLE_ARRAY = /(?<!readonly )(?<![}\w'\]~])[\w.~]*\[\]/

/** Whether a field, or the array in it, can be written to. Methods are not fields. */
function isWritable({ body }: Block): boolean {
  return [...shortened(body).matchAll(FIELD)].some(
    ([, readonly, type = '']) => !readonly || (!type.includes('=>') && WRITABLE_ARRAY.test(type))
  )
}

/** The text with `~` for all parameters and type arguments. */
function shortened(text: string): string {
  const shorter = text.replace(/\([^()]*\)|<[^<>]*>/g, '~')
  return shorter === text ? text : shortened(shorter)
}

const places = (find: (source: Source) => readonly string[]) =>
  sources.flatMap(source => find(source).map(found => `${source.name} ${found}`))

t.test('records are interfaces', async t => {
  const start = /^(?:export )?type (\w+)(?:<[^=]*>)? = (?:[\w<>]+ & )*\{(?!\s*[-+]?(?:readonly )?\[)/gm
  const isRecord = ({ rest }: Block) => !/^\s*[|&[]/.test(rest)
  t.same(
    places(({ text }) =>
      blocks(text, start)
        .filter(isRecord)
        .map(({ name }) => name)
    ),
    []
  )
})

t.test('the fields of interfaces are readonly, and so are the arrays in them', async t => {
  const writable = places(({ text }) =>
    blocks(text, INTERFACE)
      .filter(isWritable)
      .map(({ name }) => name)
  )
  t.ok(places(({ text }) => blocks(text, INTERFACE).map(({ name }) => name)).length > 100, 'the interfaces are found')
  t.same(writable.toSorted(), Object.keys(WRITTEN).toSorted())
})

t.test('constants of modules are in UPPER_CASE', async t => {
  const constant =
    /^(?:export )?const ([a-z]\w*)(?:: [^=\n]+)? = (?:-?\d|['"`]|\/[^/*]|new Set\(\[|\[\s*['"`\d]|Buffer\.from\(['"])/gm
  t.same(
    places(({ text }) => [...text.matchAll(constant)].map(([, name]) => name ?? '')),
    []
  )
})

t.test('exports have names, except for the commands, which oclif finds by their default export', async t => {
  t.same(
    places(({ name, text }) => (name.startsWith('cli/commands/') ? [] : (text.match(/^export default\b/gm) ?? []))),
    []
  )
})
