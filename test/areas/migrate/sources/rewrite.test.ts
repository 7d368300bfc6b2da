// References of texts that come from another forge.
import { type Dialect, renamed, rewritten } from '../../../../src/areas/migrate/sources/rewrite.js'
import type { Rewriting } from '../../../../src/areas/migrate/sources/source.js'
import t from '../../../helpers/tap.js'

const BASE = 'https://forge.example.com'
const dialect: Dialect = {
  url: url => {
    const path = url.replace(BASE, '')
    if (path.startsWith('/files/')) return { url: BASE + path, name: path.slice(7) }
    const [, project = '', page, id = ''] =
      /^\/([\w-]+\/[\w-]+)(?:\/(issues|pulls|commit|blob)\/(.*))?$/.exec(path) ?? []
    if (project === '') return null
    if (page === 'pulls') return { project, page: 'merge_requests', id }
    return { project, page: (page ?? 'project') as 'issues', id }
  },
  sign: (_sign, number, project) => (number === 7 && project === null ? '!' : '#')
}
const into: Rewriting = {
  mention: username => (username === 'ada' ? 'ada.lovelace' : username),
  file: ({ name }) => `/uploads/0123/${name}`,
  project: path => ({ 'team/tool': 'crew/tool', 'team/other': 'crew/other' })[path] ?? null
}
const project = { id: '1', path: 'team/tool', cloneUrl: '', wikiUrl: null, avatarUrl: null, size: null, raw: null }
const rewrite = (text: string) => rewritten(dialect, project, text, into)

const CASES: readonly (readonly [string, string, string])[] = [
  ['numbers of pull requests', 'See #7, (#7) and #5.', 'See !7, (!7) and #5.'],
  ['other numbers', 'a#7 x/#7 \\#7 #7th &#7; ##7 #77', 'a#7 x/#7 \\#7 #7th &#7; ##7 #77'],
  ['numbers of other projects', 'team/other#7 and gone/x#7', 'crew/other#7 and gone/x#7'],
  ['commits', 'team/other@0123456789 and gone/x@0123456789', 'crew/other@0123456789 and gone/x@0123456789'],
  ['mentions', '@ada, @bob: @ada/x @ada.b me@ada /@ada', '@ada.lovelace, @bob: @ada/x @ada.b me@ada /@ada'],
  ['code spans', '`#7` ``#7 ` #7`` #7 \\`#7` `', '`#7` ``#7 ` #7`` !7 \\`!7` `'],
  ['code blocks', '#7\n\n```\n#7 @ada\n```\n\n    #7\n\n#7', '!7\n\n```\n#7 @ada\n```\n\n    #7\n\n!7'],
  ['code in lists and quotes', '- a\n  ```\n  #7\n  ```\n> #7 `#7`', '- a\n  ```\n  #7\n  ```\n> !7 `#7`'],
  ['URLs of issues', `${BASE}/team/tool/issues/5. <${BASE}/team/other/pulls/2>`, '#5. crew/other!2'],
  ['URLs of files', `${BASE}/team/tool/blob/a/b.c`, '[crew/tool/blob/a/b.c](/crew/tool/blob/a/b.c)'],
  [
    'URLs of others',
    `${BASE}/gone/x/issues/5 https://example.com/#7`,
    `${BASE}/gone/x/issues/5 https://example.com/#7`
  ],
  ['links', `[a](${BASE}/team/tool/issues/5 "t") [b](/team/tool)`, '[a](/crew/tool/issues/5 "t") [b](/crew/tool)'],
  ['link definitions', `[x]: ${BASE}/team/tool/pulls/5`, '[x]: /crew/tool/merge_requests/5'],
  ['files', '![a](/files/a.png)<img src="/files/b.png">', '![a](/uploads/0123/a.png)<img src="/uploads/0123/b.png">'],
  ['files without a link', `${BASE}/files/a.png`, '[a.png](/uploads/0123/a.png)'],
  ['no slash at the beginning', '//forge.example.com/x files/a.png', '//forge.example.com/x files/a.png'],
  ['nothing', 'Nothing here: a - b', 'Nothing here: a - b']
]

t.test('references become those of this appliance, and code stays', async t => {
  for (const [what, text, expected] of CASES) t.equal(rewrite(text), expected, what)
})

t.test('a text cannot lead to files outside of the folder of its project', async t => {
  const files: string[] = []
  const read = (text: string) => {
    files.length = 0
    const file = ({ url }: { url: string }) => `READ${files.push(url)}`
    return rewritten(dialect, project, text, { ...into, file })
  }
  const out = [
    '/files/../api/users',
    '/files/a/../../api',
    '/files/%2e%2E/api',
    '/files/.%2e/api',
    '/files/..%2fapi',
    '/files/a%5C../b',
    '/files/a/..?b'
  ]
  for (const path of [...out, '/files/x\\..\\..\\api\\users', '/files/a\\b']) {
    for (const text of [`[a](${path})`, `<img src="${path}">`, `${BASE}${path} and`, `[a]: ${BASE}${path}`]) {
      t.equal(read(text), text, text)
      t.same(files, [], path)
    }
  }
  t.equal(read('[a](/files/a..b/...c/x.png)'), '[a](READ1)', 'dots in names are harmless')
})

t.test('hostile texts take no longer than others', async t => {
  const long = [
    '`'.repeat(100_000),
    '`a``b```c'.repeat(10_000),
    '#7 '.repeat(30_000),
    `${'a/'.repeat(50_000)}#7`,
    '@a'.repeat(50_000),
    '` '.repeat(300_000)
  ]
  for (const text of long) t.ok(rewrite(text).length > 50_000)
})

t.test('a person who gets another name has it in mentions, and everything else stays', async t => {
  const text = `@ada-2 @Ada-2, @ada-22 @ada \`@ada-2\` #07 a/b!3 ${BASE}/team/tool/issues/5 ![x](/uploads/0/x.png)`
  const expected = text.replace('@ada-2 @Ada-2', '@grace @grace')
  t.equal(renamed(text, 'ada-2', 'grace'), expected)
})
