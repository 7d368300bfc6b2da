import { cli } from '../helpers/cli.js'
import t from '../helpers/tap.js'

t.test('templates list shows kinds and keys', async t => {
  const { code, stdout } = await cli(['templates', 'list'])
  t.equal(code, 0)
  t.match(stdout, /^KIND +KEY +NAME\n/)
  t.match(stdout, /^licenses +mit +MIT License$/m)
  t.match(stdout, /^gitignores +Node +Node$/m)
  const licenses = (await cli(['templates', 'list', 'licenses', '--json'])).json() as { licenses: object[] }
  t.same(Object.keys(licenses), ['licenses'])
  t.equal(licenses.licenses.length, 39)
  const gitignores = await cli(['templates', 'list', 'gitignores', '--json'])
  t.same(Object.keys(gitignores.json()), ['gitignores'])
})

t.test('templates show prints the text and nothing else', async t => {
  const { code, stdout } = await cli(['templates', 'show', 'licenses', 'isc', '--fullname', 'Ada', '--project', 'x'])
  t.equal(code, 0)
  t.match(stdout, /^ISC License\n\nCopyright \(c\) \d{4}, Ada\n/)
  const json = (await cli(['templates', 'show', 'gitignores', 'Go', '--json'])).json()
  t.match(json, { name: 'Go', content: /^go\.work$/m })
  t.equal((await cli(['templates', 'show', 'gitignores', 'Go'])).stdout, json.content)
  t.match((await cli(['templates', 'show', 'dockerfiles', 'Go'])).stdout, /^FROM golang/m)
  t.match((await cli(['templates', 'show', 'gitstead_ci_ymls', 'Go'])).stdout, /^stages: /m)
})

t.test('the templates commands refuse an unknown kind or key', async t => {
  const cases: [string[], number, RegExp][] = [
    [['show', 'licenses', 'no-such'], 3, /^gitstead: no license is called "no-such"\n$/],
    [['show', 'gitignores', '../Node'], 3, /^gitstead: no template is called "..\/Node"\n$/],
    [
      ['show', 'recipes', 'x'],
      2,
      /^gitstead: Expected recipes to be one of: licenses, gitignores, dockerfiles, gitstead_ci_ymls\n$/
    ],
    [['show', 'licenses'], 2, /^gitstead: Missing 1 required arg: key .*\n$/],
    [
      ['list', 'recipes'],
      2,
      /^gitstead: Expected recipes to be one of: licenses, gitignores, dockerfiles, gitstead_ci_ymls\n$/
    ]
  ]
  for (const [args, code, stderr] of cases) {
    const result = await cli(['templates', ...args])
    t.equal(result.code, code, args.join(' '))
    t.match(result.stderr, stderr, args.join(' '))
    t.equal(result.stdout, '', args.join(' '))
  }
})
