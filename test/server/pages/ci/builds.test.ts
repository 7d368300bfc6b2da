// The pages of pipelines and builds.
import { execute } from '../../../../src/db/connect/sql.js'
import { GUEST, REPORTER } from '../../../../src/lib/levels.js'
import { appendTrace } from '../../../../src/storage/traces.js'
import {
  anotherBuild,
  beginBuild,
  endBuild,
  makePipeline,
  pipelineOf,
  type TestBuild
} from '../../../areas/ci/builds/make-builds.js'
import { testApp } from '../../../helpers/app.js'
import { Browser, listen } from '../../../helpers/browser.js'
import { countStatements } from '../../../helpers/statements.js'
import t from '../../../helpers/tap.js'
import { renamed, zipOf } from './archives.js'

const app = await testApp(t)
const base = await listen(app.fastify)

const CI = `stages: [build, test]
compile: { stage: build, script: [make], artifacts: { paths: [out] } }
unit: { stage: test, script: [make test] }
deploy: { stage: test, script: [make deploy], when: manual, environment: staging }
`

async function signedIn(user: { username: string; password: string }): Promise<Browser> {
  const browser = new Browser(base)
  await browser.signIn(user)
  return browser
}

async function subject(ci = CI, values: Parameters<typeof app.make.project>[0] = {}) {
  const project = await app.make.project(values)
  const builds = await makePipeline(project, ci)
  const of = (name: string): TestBuild => {
    const found = builds.find(build => build.name === name)
    if (!found) throw new Error(`no build ${name}`)
    return found
  }
  const [first] = builds
  const place = `/${project.path}`
  const pipeline = `${place}/pipelines/${first?.pipelineId}`
  const page = (name: string) => `${place}/builds/${of(name).id}`
  return { project, of, place, pipeline, page, owner: await signedIn(project.owner) }
}

t.test('the list of pipelines links to each, and plots how long they took', async t => {
  const { project, of, place, pipeline, owner } = await subject()
  const page = await owner.get(`${place}/pipelines`)
  t.equal(page.status, 200)
  t.match(page.body, `href="${pipeline}"`)
  t.match(page.body, `href="${place}/tree/master"`)
  t.match(page.body, `href="${place}/commit/${of('unit').sha}"`)
  t.match(page.body, `href="${place}/pipelines/new"`)
  t.notMatch(page.body, '<svg role="img"', 'two pipelines are no plot')
  await execute("update pipelines set status = 'success', duration = 5 where project_id = ?", [project.id])
  for (const name of ['a', 'b', 'c']) {
    await app.make.file(project, name, 'x')
    await pipelineOf(project)
  }
  await execute("update pipelines set status = 'failed', duration = 65 where project_id = ? and id > ?", [
    project.id,
    of('unit').pipelineId
  ])
  const many = await owner.get(`${place}/pipelines`)
  t.match(many.body, 'The last 4 pipelines: 1 succeeded, 3 failed, the longest took 1 min 5 s')
  t.equal((many.body.match(/<rect /g) ?? []).length, 4)
  const few = await countStatements(() => owner.get(`${place}/pipelines?per_page=1`))
  t.equal(await countStatements(() => owner.get(`${place}/pipelines?per_page=100`)), few)
  t.match((await owner.get(`${place}/pipelines?scope=running`)).body, 'There are no such pipelines')
  t.match((await owner.get(`${place}/pipelines?scope=branches`)).body, 'aria-current="page">Branches')
})

t.test('a project without pipelines shows what to commit', async t => {
  const project = await app.make.project()
  const owner = await signedIn(project.owner)
  t.match((await owner.get(`/${project.path}/pipelines`)).body, '.gitstead-ci.yml')
  t.match((await owner.get(`/${project.path}/builds`)).body, 'There are no builds yet')
  t.equal((await owner.get(`/${project.path}/pipelines/999999`)).status, 404)
})

t.test('a pipeline shows its builds by stage, with what its reader may do', async t => {
  const { project, of, place, pipeline, page, owner } = await subject()
  await endBuild(of('compile'))
  await endBuild(of('unit'), { status: 'failed' })
  await execute("update builds set failure_reason = 'script_failure', exit_code = 2 where id = ?", [of('unit').id])
  const shown = await owner.get(pipeline)
  t.match(shown.body, /<h2 class="head">build <span class="state good">success/)
  t.match(shown.body, /<h2 class="head">test <span class="state bad">failed/)
  t.match(shown.body, 'script failure, exit code 2')
  t.match(shown.body, `href="${page('unit')}"`)
  t.match(shown.body, '<span class="state idle">manual</span>')
  await app.as(project.owner).post(`/projects/${project.id}/statuses/${of('unit').sha}`, {
    ...{ state: 'success', name: '<b>scan', target_url: 'https://scan.example/1', description: '<i>fine' }
  })
  const posted = (await owner.get(pipeline)).body
  t.match(posted, '<a href="https://scan.example/1" rel="nofollow noopener">&lt;b&gt;scan</a>')
  t.match(posted, '&lt;i&gt;fine')
  await execute("update commit_statuses set target_url = 'javascript:alert(1)' where project_id = ?", [project.id])
  t.notMatch((await owner.get(pipeline)).body, 'javascript:', 'an imported status may have any URL')

  const back = { referer: `${base}${pipeline}` }
  const tokenOf = ({ body }: { body: string }) => ({
    authenticity_token: /name="authenticity_token" value="([^"]+)"/.exec(body)?.[1] ?? ''
  })
  const token = tokenOf(shown)
  t.equal((await owner.post(`${page('deploy')}/play`, {}, back)).status, 409, 'only with the token of a form')
  const played = await owner.post(`${page('deploy')}/play`, token, back)
  t.match([played.status, played.location], [303, pipeline])
  t.match((await owner.get(page('deploy'))).body, '<span class="state busy">pending</span>')
  const again = await owner.post(`${page('deploy')}/play`, tokenOf(await owner.get(pipeline)))
  t.equal(again.status, 400)
  t.match(again.body, 'Unplayable')
  const wrong = { referer: `${base}//evil.example/x` }
  t.equal((await owner.post(`${page('deploy')}/cancel`, token, wrong)).location, '/evil.example/x')
  const retried = await owner.post(`${page('unit')}/retry`, token)
  t.match(retried.location, new RegExp(`^${place}/builds/\\d+$`))
  t.not(retried.location, page('unit'))
  t.match((await owner.get(pipeline)).body, /Before: <a href="[^"]+">unit \(failed\)/)
  t.equal((await owner.post(`${pipeline}/cancel`, token)).location, pipeline)
  t.equal((await owner.post(`${pipeline}/retry`, token)).location, pipeline)

  const reporter = await signedIn(await app.make.member(project, REPORTER))
  const read = (await reporter.get(pipeline)).body
  t.match(read, `href="${page('unit')}"`)
  t.notMatch(read, /action="[^"]*\/(retry|cancel|play)"/)
  t.equal((await reporter.post(`${page('unit')}/retry`, tokenOf({ body: read }))).status, 403)
})

t.test('who cannot read builds by the API sees the same page as for no build', async t => {
  const { project, pipeline, page, place } = await subject()
  const guest = await signedIn(await app.make.member(project, GUEST))
  await execute('update projects set public_builds = 0 where id = ?', [project.id])
  const stranger = await signedIn(await app.make.user())
  const nobody = new Browser(base)
  for (const path of [pipeline, page('unit'), `${page('unit')}/raw`, `${place}/builds`, `${place}/environments`]) {
    for (const [who, browser] of Object.entries({ guest, stranger, nobody })) {
      const answer = await browser.get(path)
      t.equal(answer.status, 404, `${who} ${path}`)
      t.match(answer.body, 'There is no page here')
    }
  }
  const open = await subject(CI, { visibility_level: 20 })
  await execute('update projects set public_builds = 0 where id = ?', [open.project.id])
  const seen = (await stranger.get(open.pipeline)).body
  t.match(seen, 'Only members of the project see the builds')
  t.notMatch(seen, 'compile', 'strangers may read this pipeline, but not its builds')
  t.match((await open.owner.get(open.pipeline)).body, 'compile')
  const other = await subject()
  t.equal((await other.owner.get(`${other.place}/builds/${page('unit').split('/').at(-1)}`)).status, 404)
})

t.test('somebody runs a pipeline of a branch', async t => {
  const { place, owner } = await subject()
  const form = await owner.get(`${place}/pipelines/new`)
  t.match(form.body, /name="ref"[^>]* value="master"/)
  const wrong = await owner.submit(form, 'name="ref"', { ref: 'no<such' })
  t.equal(wrong.status, 400)
  t.match(wrong.body, 'Reference not found')
  t.match(wrong.body, 'value="no&lt;such"', 'what was entered stays')
  const made = await owner.submit(form, 'name="ref"')
  t.equal(made.status, 303)
  t.equal((await owner.get(made.location ?? '')).status, 200)
  const empty = await app.make.project()
  await app.make.file(empty, '.gitstead-ci.yml', 'x: {skript: y}\n')
  const other = await signedIn(empty.owner)
  const broken = await other.submit(await other.get(`/${empty.path}/pipelines/new`), 'name="ref"')
  t.match(broken.body, /<pre class="error"[^>]*>[^<]*script/)
})

t.test('a build shows its output, which can be followed from where a part ended', async t => {
  const { of, page, owner } = await subject()
  const path = page('compile')
  t.match((await owner.get(path)).body, 'The build waits for a runner')
  const waits = await owner.get(`${path}/trace?attempt=0&offset=0&place=`)
  t.same(JSON.parse(waits.body), { status: 'pending', attempt: 0, part: null })
  const { attempt } = await beginBuild(of('compile'))
  const key = { build: of('compile').id, attempt }
  await appendTrace(key, Buffer.from('\x1b[32m$ make <all>\x1b[0m\nsection_start:1:a\r\x1b[0KBuilding\nha'))
  const shown = (await owner.get(path)).body
  t.match(shown, '<span class="c2">$ make &lt;all&gt;</span>')
  t.match(shown, '<details data-open open><summary id="L2">')
  t.match(shown, /<div><a>3<\/a>ha<\/div>/)
  const { offset, place = '' } = /data-offset="(?<offset>\d+)" data-place="(?<place>[^"]+)"/.exec(shown)?.groups ?? {}
  await appendTrace(key, Buffer.from('lf\nsection_end:3:a\r\x1b[0K\nlast'))
  const since = `${path}/trace?attempt=1&offset=${offset}&place=${encodeURIComponent(place)}`
  const { part, status } = JSON.parse((await owner.get(since)).body)
  t.equal(status, 'running')
  t.match(part.pieces, [/id="L3".*half<\/div>$/, ''])
  t.match(part, { tail: '<a>5</a>last', over: false })
  t.equal((await owner.get(`${path}/trace?attempt=1&offset=-1&place=x`)).status, 400)
  t.equal(JSON.parse((await owner.get(`${path}/trace?attempt=2&offset=0&place=x`)).body).part, null)
  const raw = await owner.get(`${path}/raw`)
  t.match(raw.body, '$ make <all>')
  t.equal(raw.headers.get('content-type'), 'text/plain; charset=utf-8')
  t.match(raw.headers.get('content-security-policy'), /sandbox/)
  t.equal(raw.headers.get('x-content-type-options'), 'nosniff')
})

t.test('of a long output, the end is shown', async t => {
  const { of, page, owner } = await subject()
  const lines = Array.from({ length: 40_000 }, (_, at) => `line ${at + 1}`).join('\n')
  await endBuild(of('compile'), { trace: `${lines}\n` })
  const { body } = await owner.get(page('compile'))
  t.match(body, '<a href="#L40000" tabindex="-1">40000</a>line 40000</div>')
  t.notMatch(body, '>line 1<')
  t.match(body, /Only the end is shown: \d+ KiB before it/)
  t.ok(body.length < 1_000_000, `${body.length} characters`)
  t.notMatch(body, 'data-follow')
})

t.test('artifacts can be browsed, downloaded, kept and erased', async t => {
  const { of, page, owner, project } = await subject()
  const path = page('compile')
  const artifacts = await zipOf({ 'out/<b>.html': '<script>', 'out/deep/ä b': 'x'.repeat(200_000), 'top.txt': 'top' })
  await endBuild(of('compile'), { trace: 'done', artifacts, expireIn: 1000 })
  const shown = await owner.get(path)
  t.match(shown.body, /removed <time[^>]*>in 16 minutes/)
  t.equal((await owner.submit(shown, `${path}/keep`)).location, path)
  t.notMatch((await owner.get(path)).body, 'removed <time')

  const top = await owner.get(`${path}/artifacts/browse`)
  t.match(top.body, `href="${path}/artifacts/browse/out/"`)
  t.match(top.body, /top.txt<\/a><\/td><td>3 B/)
  const inside = await owner.get(`${path}/artifacts/browse/out/`)
  t.match(inside.body, `href="${path}/artifacts/file/out/%3Cb%3E.html">&lt;b&gt;.html</a>`)
  t.equal((await owner.get(`${path}/artifacts/browse/none/`)).status, 404)
  const html = await owner.get(`${path}/artifacts/file/out/%3Cb%3E.html`)
  t.equal(html.body, '<script>')
  t.match(html.headers.get('content-disposition'), /^attachment/)
  t.equal(html.headers.get('content-type'), 'application/octet-stream')
  t.equal((await owner.get(`${path}/artifacts/file/out/deep/%C3%A4%20b`)).body.length, 200_000)
  for (const wrong of ['out', 'out/', '..%2Ftop.txt', 'none']) {
    t.equal((await owner.get(`${path}/artifacts/file/${wrong}`)).status, 404, wrong)
  }
  t.equal((await owner.get(`${path}/artifacts/download`)).headers.get('content-length'), String(artifacts.length))

  const plan = "update builds set plan = json_set(plan, '$.options.artifacts.access', 'none') where id = ?"
  await execute(plan, [of('compile').id])
  t.notMatch((await owner.get(path)).body, 'artifacts/browse')
  for (const part of ['browse/', 'file/top.txt', 'download']) {
    t.equal((await owner.get(`${path}/artifacts/${part}`)).status, 404, part)
  }
  await execute(plan.replace('none', 'all'), [of('compile').id])
  t.equal((await owner.submit(await owner.get(path), `${path}/erase`)).location, path)
  t.match((await owner.get(path)).body, 'The output was erased')
  t.equal((await owner.get(`${path}/raw`)).status, 404)
  t.equal((await owner.get(`${path}/artifacts/browse`)).status, 404)
  const reader = await signedIn(await app.make.member(project, REPORTER))
  t.notMatch((await reader.get(path)).body, `<form method="post" action="/${project.path}`)
})

t.test('names in an archive that are odd or very long hide no other file', async t => {
  const { of, page, owner } = await subject()
  const path = `${page('compile')}/artifacts`
  const wide = Array.from({ length: 200 }, (_, at) => `z${'"'.repeat(4000)}${at}`)
  const names = ['AA/evil', 'a.txt', `${'d/'.repeat(900)}deep`, 'y'.repeat(5000), ...wide]
  const zip = await zipOf(Object.fromEntries(names.map(name => [name, 'text'])))
  await endBuild(of('compile'), { artifacts: renamed(zip, 'AA/evil', '../evil') })
  const { body } = await owner.get(`${path}/browse`)
  t.match(body, `${path}/file/a.txt">a.txt</a>`)
  t.match(body, '2 files with unusual names cannot be listed')
  t.notMatch(body, /evil|yyy/)
  t.match(body, `z${'&quot;'.repeat(254)}…`)
  t.ok(body.length < 2_000_000, `${body.length} characters`)
  t.equal((await owner.get(`${path}/file/a.txt`)).body, 'text')
  t.equal((await owner.get(`${path}/file/${'y'.repeat(5000)}`)).status, 404)
  const deep = (await owner.get(`${path}/browse/${'d/'.repeat(899)}`)).body
  t.match(deep, '</a> / … / <a')
  t.ok(deep.length < 100_000, `${deep.length} characters`)
})

t.test('an archive whose names are too long together is not listed', async t => {
  const { of, page, owner } = await subject()
  const names = Array.from({ length: 100 }, (_, at) => `${'"'.repeat(50_000)}${at}`)
  await endBuild(of('compile'), { artifacts: await zipOf(Object.fromEntries(names.map(name => [name, '']))) })
  const { status, body } = await owner.get(`${page('compile')}/artifacts/browse`)
  t.equal(status, 200)
  t.match(body, 'The archive cannot be shown: the names of its files are too long')
})

t.test('an archive that is no archive says so', async t => {
  const { of, page, owner } = await subject()
  await endBuild(of('compile'), { artifacts: Buffer.from('no zip') })
  const { body } = await owner.get(`${page('compile')}/artifacts/browse`)
  t.match(body, 'The archive cannot be shown: it is damaged')
  t.equal(body.split('it is damaged').length, 2, 'once')
  const file = await owner.get(`${page('compile')}/artifacts/file/x`)
  t.equal(file.status, 422)
  t.match(file.body, 'This file of the archive cannot be opened: it is damaged')
})

t.test('the list of builds has a fixed number of statements', async t => {
  const { project, place, owner } = await subject()
  for (let count = 0; count < 5; count++) await anotherBuild(project)
  const page = await owner.get(`${place}/builds`)
  t.equal((page.body.match(/<li>/g) ?? []).length, 8)
  const few = await countStatements(() => owner.get(`${place}/builds?per_page=1`))
  t.equal(await countStatements(() => owner.get(`${place}/builds?per_page=100`)), few)
  const some = await owner.get(`${place}/builds?scope[]=created&scope[]=pending`)
  t.match(some.body, 'aria-current="page">Waiting')
})
