import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findTemplate, listTemplates, TEMPLATE_KINDS } from '../../../../src/areas/ci/templates/files.js'
import { lintConfig } from '../../../../src/ci/lint.js'
import { root } from '../../../../src/config.js'
import { testApp } from '../../../helpers/app.js'
import t from '../../../helpers/tap.js'

type Record = { [field: string]: unknown; content: string; key: string; name: string }

const year = String(new Date().getUTCFullYear())

t.test('the API', async t => {
  const app = await testApp(t)
  const user = await app.make.user({ name: 'Ada $& Lovelace' })
  const get = async (path: string, query = {}) => (await app.nobody.get(path, query)).json()

  t.test('GET /templates/licenses lists all of them, unpaginated and without credentials', async t => {
    const res = await app.nobody.get('/templates/licenses', { per_page: 5 })
    t.equal(res.statusCode, 200)
    t.equal(res.headers['x-total'], undefined)
    const licenses = res.json() as Record[]
    t.equal(licenses.length, 39)
    const keys = licenses.map(({ key }) => key)
    t.same(keys, [...keys].sort())
    for (const key of ['mit', 'apache-2.0', 'gpl-3.0', 'bsd-2-clause', 'mpl-2.0', '0bsd', 'unlicense']) {
      t.ok(keys.includes(key), key)
    }
    for (const { key, name, description, content, html_url, source_url } of licenses) {
      t.match({ name, description, html_url, source_url }, { name: /./, description: /./ }, key)
      t.match([html_url, source_url], [/^https:\/\/[\w.]+\/licenses\/[a-z0-9.-]+\/$/, /^https:\/\//], key)
      t.ok(content.length > 300, key)
    }
  })

  t.test('popular licenses are the featured ones', async t => {
    const popular = (await get('/templates/licenses', { popular: true })) as Record[]
    t.same(
      popular.map(({ key, featured }) => [key, featured, featured]),
      ['apache-2.0', 'gpl-3.0', 'mit'].map(key => [key, true, true])
    )
    t.equal(((await get('/templates/licenses', { popular: false })) as Record[]).length, 39)
    t.equal((await app.nobody.get('/templates/licenses', { popular: 'perhaps' })).statusCode, 400)
  })

  t.test('GET /templates/licenses/:key is the record of the requirement', async t => {
    const { content, description, ...rest } = await get('/templates/licenses/mit')
    t.same(rest, {
      key: 'mit',
      name: 'MIT License',
      nickname: null,
      featured: true,
      popular: true,
      html_url: 'https://choosealicense.com/licenses/mit/',
      source_url: 'https://www.opensource.org/licenses/MIT',
      conditions: ['include-copyright'],
      permissions: ['commercial-use', 'modifications', 'distribution', 'private-use'],
      limitations: ['liability', 'warranty']
    })
    t.match(description, /^A short and simple permissive license/)
    t.match(content, `MIT License\n\nCopyright (c) ${year} [fullname]\n\n`)
    t.equal((await get('/templates/licenses/MIT')).key, 'mit')
    t.equal((await get('/templates/licenses/agpl-3.0')).nickname, 'GNU AGPLv3')
  })

  t.test('fills in placeholders in every spelling of the texts', async t => {
    const both = { fullname: 'A [year] B', project: '$1 <year>' }
    const cases: [string, object, string][] = [
      ['mit', both, `Copyright (c) ${year} A [year] B\n`],
      ['apache-2.0', both, `Copyright ${year} A [year] B\n`],
      ['gpl-3.0', both, `    $1 <year>\n    Copyright (C) ${year}  A [year] B\n`],
      ['gpl-3.0', both, `    $1 <year>  Copyright (C) ${year}  A [year] B\n`],
      ['lgpl-2.1', both, `    $1 <year>\n    Copyright (C) ${year}  A [year] B\n`],
      ['ncsa', both, `Developed by: $1 <year>\n              A [year] B\n`],
      ['vim', both, 'unmodified copies of $1 <year>'],
      ['gpl-2.0', { fullname: '' }, `    Copyright (C) ${year}  <name of author>\n`],
      ['gpl-3.0', {}, "<one line to give the program's name and a brief idea of what it does.>"]
    ]
    for (const [key, query, expected] of cases) {
      t.ok((await get(`/templates/licenses/${key}`, query)).content.includes(expected), `${key}: ${expected}`)
    }
  })

  t.test('no text keeps a placeholder whose value is given', async t => {
    for (const { key } of (await get('/templates/licenses')) as Record[]) {
      const { content } = await get(`/templates/licenses/${key}`, { fullname: 'Ada', project: 'Engine' })
      // Of the sources' own: a unit's letter, marks of the French text, addresses; and what nobody can know.
      const left = [...content.matchAll(/\[\w[\w ]+\]|<[a-z][^>@:#]+>/g)].map(([text]) => text)
      const known = ['[email]', '[projecturl]', '<insert your license name here>', '<signature of Ty Coon>']
      const words = /^\[(nrs|nria|ogiciel|ibre)\]$/
      t.same(
        left.filter(text => !known.includes(text) && !words.test(text)),
        [],
        key
      )
    }
  })

  t.test('the name of the caller is the default of fullname', async t => {
    const { content } = (await app.as(user).get('/templates/licenses/mit')).json()
    t.match(content, `Copyright (c) ${year} Ada $& Lovelace\n`)
    const given = (await app.as(user).get('/templates/licenses/mit', { fullname: 'Bert' })).json()
    t.match(given.content, `Copyright (c) ${year} Bert\n`)
  })

  t.test('wrong questions about licenses', async t => {
    const unknown = await app.nobody.get('/templates/licenses/no-such')
    t.equal(unknown.statusCode, 404)
    t.same(unknown.json(), { message: '404 License Not Found' })
    t.equal((await app.nobody.get('/templates/licenses/__proto__')).statusCode, 404)
    t.equal((await app.nobody.get('/templates/licenses/mit', { fullname: ['a', 'b'] })).statusCode, 400)
    t.equal((await app.nobody.get('/templates/licenses/mit', { fullname: 'x'.repeat(256) })).statusCode, 400)
    const wrong = await app.nobody.inject({
      method: 'GET',
      url: '/api/v3/templates/licenses',
      headers: { 'private-token': 'wrong' }
    })
    t.equal(wrong.statusCode, 401)
    t.equal((await app.nobody.post('/templates/licenses')).statusCode, 405)
  })

  t.test('GET /templates/gitignores lists names, and each is found with its content', async t => {
    const names = (await get('/templates/gitignores')) as Record[]
    t.ok(names.length >= 60)
    t.same(Object.keys(names[0] ?? {}), ['name'])
    for (const { name } of names) {
      const found = await get(`/templates/gitignores/${encodeURIComponent(name)}`)
      t.same(Object.keys(found), ['name', 'content'])
      t.equal(found.name, name)
      t.equal(found.content, readFileSync(join(root, 'templates/gitignores', `${name}.gitignore`), 'utf8'))
    }
  })

  t.test('a key is a name and never a path', async t => {
    for (const key of ['No-Such', 'node', '../gitignores/Node', '..%2Fgitignores%2FNode', '%00', 'constructor']) {
      const res = await app.nobody.get(`/templates/gitignores/${encodeURIComponent(decodeURIComponent(key))}`)
      t.equal(res.statusCode, 404, key)
      t.same(res.json(), { message: '404 gitignore Not Found' }, key)
    }
  })

  t.test('dockerfiles and CI files have the same routes', async t => {
    for (const kind of ['dockerfiles', 'gitstead_ci_ymls', 'gitlab_ci_ymls']) {
      const names = (await get(`/templates/${kind}`)) as Record[]
      t.ok(names.length >= 5, kind)
      for (const { name } of names) {
        t.match(await get(`/templates/${kind}/${encodeURIComponent(name)}`), { name, content: /^# / })
      }
    }
    t.same(await get('/templates/dockerfiles/x'), { message: '404 dockerfile Not Found' })
    t.same(await get('/templates/gitstead_ci_ymls/x'), { message: '404 gitstead_ci_yml Not Found' })
    t.same(await get('/gitlab_ci_ymls'), await get('/templates/gitstead_ci_ymls'))
  })

  t.test('the paths without /templates answer the same', async t => {
    for (const path of ['/licenses', '/licenses/mit', '/gitignores', '/gitignores/Node', '/licenses?popular=1']) {
      const [old, new_] = await Promise.all([app.nobody.get(path), app.nobody.get(`/templates${path}`)])
      t.equal(old.statusCode, 200, path)
      t.equal(old.body, new_.body, path)
    }
    t.same((await get('/gitignores/no-such')).message, '404 gitignore Not Found')
  })
})

t.test('the server can serve every file', async t => {
  for (const kind of TEMPLATE_KINDS) {
    const files = readdirSync(join(root, 'templates', kind))
    t.equal(listTemplates(kind).length, files.length, `${kind}: every file has the ending of its kind`)
    for (const { name, content } of listTemplates(kind)) {
      const bytes = readFileSync(join(root, 'templates', kind, files.find(file => file.startsWith(`${name}.`)) ?? ''))
      t.equal(Buffer.compare(Buffer.from(content), bytes), 0, `${name} is UTF-8`)
      t.ok(content.endsWith('\n') && !content.endsWith('\n\n') && !content.includes('\r\n'), name)
      t.match(content, /^# \w/m, `${name} has comments`)
    }
  }
})

t.test('every CI file makes a pipeline', async t => {
  for (const { name, content } of listTemplates('gitstead_ci_ymls')) {
    t.same(lintConfig(content), { status: 'valid', errors: [], warnings: [] }, name)
  }
})

t.test('every Dockerfile ends as a user that is not root', async t => {
  for (const { name, content } of listTemplates('dockerfiles')) {
    const last = content.split(/^FROM /m).at(-1) ?? ''
    t.match(last, /^USER (?!root)\w+$|^\S+(:nonroot|-unprivileged:stable)$/m, name)
  }
})

t.test('every gitignore has patterns, and no pattern twice', async t => {
  for (const { name, content } of listTemplates('gitignores')) {
    const lines = content.split('\n').filter(line => line !== '')
    const patterns = lines.filter(line => !line.startsWith('#'))
    t.ok(patterns.length >= 5, `${name} has ${patterns.length} patterns`)
    t.same(
      patterns.filter((line, at) => patterns.indexOf(line) !== at),
      [],
      name
    )
    t.same(
      patterns.filter(line => line !== line.trim()),
      [],
      name
    )
  }
})

t.test('git ignores what a template means, and nothing of the sources', async t => {
  const cases: { [name: string]: [ignored: string[], kept: string[]] } = {
    Android: [['app/build/a.class', 'release.jks', 'local.properties'], ['app/src/main/Main.java']],
    C: [
      ['a.o', 'lib/x.so.1.2', 'core.1234', 'a.dSYM/x'],
      ['a.c', 'core.c', 'Makefile']
    ],
    'C++': [
      ['build-debug/x', 'x.gch'],
      ['src/a.cpp', 'CMakeLists.txt']
    ],
    CMake: [['sub/CMakeFiles/x', 'CMakeCache.txt'], ['CMakeLists.txt']],
    Composer: [['vendor/autoload.php'], ['composer.lock', 'src/vendor.php']],
    Elixir: [
      ['_build/dev/x', 'erl_crash.dump'],
      ['mix.exs', 'mix.lock']
    ],
    Emacs: [['a.txt~', '#a.txt#', '.#a.txt'], ['a.el']],
    Go: [
      ['app.test', 'bin/app'],
      ['main.go', 'go.mod', 'cmd/bin.go']
    ],
    Gradle: [
      ['build/x', 'app/build/y'],
      ['src/main/build/A.java', 'gradle/wrapper/gradle-wrapper.jar']
    ],
    Haskell: [['dist-newstyle/x', 'A.hi'], ['A.hs']],
    Java: [
      ['A.class', 'target/x', 'lib/x.jar'],
      ['A.java', '.mvn/wrapper/maven-wrapper.jar']
    ],
    JetBrains: [['.idea/workspace.xml', 'app.iml'], ['.idea/codeStyles/Project.xml']],
    Laravel: [
      ['.env', 'vendor/x', 'storage/logs/laravel.log'],
      ['.env.example', 'bootstrap/app.php']
    ],
    macOS: [
      ['.DS_Store', 'a/._b', 'Icon\r'],
      ['Icons', 'Icon.png']
    ],
    Node: [
      ['a/node_modules/x/index.js', '.env', '.env.local', 'npm-debug.log'],
      ['.env.example', 'package-lock.json']
    ],
    Nextjs: [['.yarn/cache/x', '.next/x'], ['.yarn/releases/yarn.cjs']],
    Python: [
      ['a/__pycache__/b.pyc', '.venv/bin/python', 'x.egg-info/PKG-INFO'],
      ['setup.py', 'pyproject.toml']
    ],
    Rails: [
      ['log/test.log', 'tmp/pids/server.pid', 'config/master.key'],
      ['log/.keep', 'tmp/pids/.keep']
    ],
    Rust: [
      ['target/debug/x', 'member/target/y'],
      ['Cargo.lock', 'src/main.rs']
    ],
    Tags: [['tags', 'a/TAGS'], ['tags/index.html']],
    Terraform: [
      ['terraform.tfstate', '.terraform/x', 'prod.tfvars'],
      ['.terraform.lock.hcl', 'example.tfvars']
    ],
    TeX: [
      ['thesis.aux', 'thesis.synctex.gz', '_minted-thesis/x'],
      ['thesis.tex', 'figure.tikz']
    ],
    Unity: [
      ['Library/x', 'temp/y'],
      ['Assets/Library/x.cs', 'Assets/a.meta']
    ],
    Vim: [
      ['.a.txt.swp', 'a~', '.a.un~'],
      ['logo.svg', 'a.txt']
    ],
    VisualStudio: [
      ['bin/x', 'App/Obj/y', 'a.suo'],
      ['a.sln', 'a.csproj', 'Program.cs']
    ],
    VisualStudioCode: [['.vscode/random.json'], ['.vscode/settings.json']],
    Windows: [['Thumbs.db', '$RECYCLE.BIN/x', 'Desktop.ini'], ['readme.txt']],
    WordPress: [['wp-config.php', 'wp-admin/x.php'], ['wp-content/themes/own/style.css']]
  }
  const folder = t.testdir()
  // The user who runs the tests may have own ignore files in the settings of git.
  const env = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1', HOME: folder }
  const git = (args: string[], input = '') => execFileSync('git', args, { cwd: folder, env, input, encoding: 'utf8' })
  git(['init', '-q'])
  for (const [name, [ignored, kept]] of Object.entries(cases)) {
    const file = join(root, 'templates/gitignores', `${name}.gitignore`)
    const paths = [...ignored, ...kept].join('\0')
    const check = ['-c', `core.excludesFile=${file}`, 'check-ignore', '--no-index', '-z', '--stdin']
    t.same(git(check, paths).split('\0').filter(Boolean), ignored, name)
    t.equal(findTemplate('gitignores', name).name, name)
  }
})
