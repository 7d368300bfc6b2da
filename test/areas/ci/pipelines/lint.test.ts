import { testApp } from '../../../helpers/app.js'
import { cli } from '../../../helpers/cli.js'
import t from '../../../helpers/tap.js'

t.test('POST /ci/lint', async t => {
  const app = await testApp(t)
  const lint = (content: unknown) => app.nobody.post('/ci/lint', { content })

  t.test('says that a file is valid', async t => {
    const res = await lint('job: { script: x }\n')
    t.equal(res.statusCode, 200)
    t.same(res.json(), { status: 'valid', errors: [] })
  })

  t.test('tells all faults in one text', async t => {
    const res = await lint('one: { scrip: x }\ntwo: { script: x, when: never }\n')
    t.equal(res.statusCode, 200)
    t.match(res.json(), { status: 'invalid', errors: [/scrip[\s\S]*two/] })
    t.equal(res.json().errors.length, 1)
  })

  t.test('a text that is no YAML, and one that grows without end, are invalid', async t => {
    const bomb = `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'
      .split('')
      .map((name, at) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[at]}`)}]`)
      .join('\n')}\njob: { script: *h }\n`
    for (const content of ['job: [', '', bomb]) t.match((await lint(content)).json(), { status: 'invalid' })
  })

  t.test('the text is required, and has a limit', async t => {
    t.match((await app.nobody.post('/ci/lint', {})).json(), { error: 'content is missing' })
    const res = await lint('#'.repeat(65_537))
    t.equal(res.statusCode, 400)
    t.same(res.json(), { message: { content: ['is too long (maximum is 65536 characters)'] } })
  })
})

t.test('ci lint needs no appliance, and its exit code shows whether the file is valid', async t => {
  const folder = t.testdir({
    good: 'job: { script: x }\n',
    bad: 'one: { scrip: x }\ntwo: { script: x, when: never }\n',
    '.git': {},
    ci: {
      'more.yml': '.base: { script: y }\n',
      nested: { including: 'include: ci/*.yml\nx: { extends: .base, release: x }\n' }
    }
  })
  const lint = (file: string, ...more: string[]) =>
    cli(['ci', 'lint', `${folder}/${file}`, ...more], { environment: { GITSTEAD_HOME: `${folder}/none` } })
  t.match(await lint('good'), { code: 0, stdout: 'the CI file is valid\n' })
  const bad = await lint('bad')
  t.equal(bad.code, 1)
  t.match(bad.stdout, /^jobs:one unknown key `scrip`[\s\S]*^jobs:two:when /m)
  const { code, json } = await lint('bad', '--json')
  t.equal(code, 1)
  t.match(json(), { ok: false, errors: [/scrip/] })
  t.match(await lint('ci/nested/including'), {
    code: 0,
    stdout: 'warning: jobs:x key `release` has no effect here\nthe CI file is valid\n'
  })
  t.match(await lint('gone'), { code: 2, stderr: /cannot be read \(ENOENT\)/ })
})
