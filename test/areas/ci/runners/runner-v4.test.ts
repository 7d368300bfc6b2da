// The protocol of stock runners from 9.0 on, request by request: statuses, headers and documents are what the program
// compares.
import { execFile } from 'node:child_process'
import { request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { cancelBuild } from '../../../../src/areas/ci/builds/claim.js'
import { requireHeld } from '../../../../src/areas/ci/runners/external/held-builds.js'
import type * as maskedTraces from '../../../../src/areas/ci/runners/external/masked-traces.js'
import { registrationToken } from '../../../../src/areas/ci/runners/registration-token.js'
import { config } from '../../../../src/config.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { prepareHome } from '../../../../src/home.js'
import { readTrace } from '../../../../src/storage/traces.js'
import { testApp } from '../../../helpers/app.js'
import { factory } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { makePipeline } from '../builds/make-builds.js'
import { INFO, type Job, patch, register, request, speak, take, tokenOf, update } from './stock-runner.js'

const app = await testApp(t)
prepareHome()
const ask = speak(app)
const CI = 'test: { script: [make test] }\n'

/** A project with its own runner, and the job that this takes. */
async function running(ci = CI) {
  const project = await factory.project()
  await makePipeline(project, ci)
  const runner = await register(app, await tokenOf(project))
  return { project, runner, job: await take(app, runner.token) }
}

const stateOf = ({ id }: { id: number }) =>
  row<{ status: string; failure_reason: string | null; exit_code: number | null; trace_size: number }>(
    'select status, failure_reason, exit_code, trace_size from builds where id = ?',
    [id]
  )
const traceOf = async ({ id }: { id: number }) => (await readTrace({ build: id, attempt: 1 })).toString()

t.test('register', async t => {
  t.test('the token of the instance makes a shared runner', async t => {
    const answer = await ask('POST', '/runners', {
      payload: {
        token: await registrationToken(),
        description: 'one',
        info: INFO,
        locked: true,
        run_untagged: true,
        tag_list: 'arm, linux,'
      }
    })
    t.equal(answer.statusCode, 201)
    t.equal(answer.headers['content-type'], 'application/json')
    const { id, token, token_expires_at } = answer.json()
    t.equal(token_expires_at, null)
    t.match(token, /^(?!glrt-)[\w-]{20}$/)
    t.match(await row('select * from runners where id = ?', [id]), {
      is_shared: 1,
      locked: 0,
      active: 1,
      tag_list: '["arm","linux"]',
      name: 'gitlab-runner',
      version: '17.5.0',
      platform: 'linux',
      architecture: 'amd64',
      maximum_timeout: null,
      contacted_at: Date
    })
  })

  t.test('the token of a project makes a runner of that project', async t => {
    const project = await factory.project()
    const { id } = await register(app, await tokenOf(project), { maximum_timeout: 600, paused: true })
    t.match(await row('select * from runners where id = ?', [id]), {
      is_shared: 0,
      locked: 1,
      active: 0,
      maximum_timeout: 600
    })
    t.match(await row('select * from runner_projects where runner_id = ?', [id]), { project_id: project.id })
  })

  t.test('refusals', async t => {
    const token = await registrationToken()
    const cases: [object, number, RegExp][] = [
      [{ token: 'wrong' }, 403, /^\{"message":"403 Forbidden"\}$/],
      [{}, 403, /403 Forbidden/],
      [{ token, run_untagged: false }, 400, /\{"message":\{"tags_list":\["can not be empty/],
      [{ token, access_level: 'secret' }, 400, /must be not_protected or ref_protected/],
      [{ token, maximum_timeout: -1 }, 400, /maximum_timeout/],
      [{ token, tag_list: 'x'.repeat(256) }, 400, /too long/],
      [{ token, description: 'x'.repeat(256) }, 400, /too long/],
      [{ token, tag_list: Array.from({ length: 51 }, (_, at) => at).join() }, 400, /at most 50/]
    ]
    for (const [payload, status, body] of cases) {
      const answer = await ask('POST', '/runners', { payload })
      t.equal(answer.statusCode, status)
      t.match(answer.body, body)
      t.equal(answer.headers['content-type'], 'application/json')
    }
  })
})

t.test('verify and unregister, by the body or the header', async t => {
  const runner = await register(app)
  const verified = await ask('POST', '/runners/verify', { payload: { token: runner.token, system_id: 's_1' } })
  t.equal(verified.statusCode, 200)
  t.match(verified.json(), { id: runner.id, token: runner.token, token_expires_at: null })
  const headers = { 'runner-token': runner.token }
  t.equal((await ask('POST', '/runners/verify', { payload: {}, headers })).statusCode, 200)
  t.equal((await ask('POST', '/runners/verify', { payload: { token: 'x' } })).statusCode, 403)
  t.equal(
    (await ask('DELETE', '/runners/managers', { payload: { token: runner.token, system_id: 's_1' } })).statusCode,
    204
  )
  t.equal((await ask('DELETE', '/runners', { payload: { token: 'x' } })).statusCode, 403)
  t.equal((await ask('DELETE', '/runners', { payload: { token: runner.token } })).statusCode, 204)
  t.equal((await ask('DELETE', '/runners', { payload: { token: runner.token } })).statusCode, 403)
})

t.test('a runner replaces its token', async t => {
  const { token: old } = await register(app)
  const reset = (token: string) => ask('POST', '/runners/reset_authentication_token', { payload: { token } })
  t.equal((await request(app, old)).statusCode, 204)
  const answer = await reset(old)
  t.equal(answer.statusCode, 201)
  t.match(answer.json(), { token: /^[\w-]{20}$/, token_expires_at: null })
  t.equal((await request(app, old)).statusCode, 403)
  t.equal((await reset(old)).statusCode, 403)
  t.equal((await request(app, answer.json().token)).statusCode, 204)
  t.ok(await row("select id from audit_events where action = 'runner.reset_token'"))
})

t.test('a request for a job', async t => {
  t.test('an answer without a job has a value that the runner shows again', async t => {
    const project = await factory.project()
    const runner = await register(app, await tokenOf(project))
    const vain = await request(app, runner.token)
    const last_update = String(vain.headers['x-gitlab-last-update'])
    t.match(last_update, /^[0-9a-f]{32}$/)
    const again = () => ask('POST', '/jobs/request', { payload: { token: runner.token, last_update } })
    t.match(await again(), { statusCode: 204, headers: { 'x-gitlab-last-update': last_update } })
    await makePipeline(project, CI)
    const taken = await again()
    t.equal(taken.statusCode, 201)
    t.notOk(taken.headers['x-gitlab-last-update'])
  })

  t.test('204 when nothing waits or the runner is paused, 403 only for an unknown token', async t => {
    const project = await factory.project()
    const runner = await register(app, await tokenOf(project))
    t.equal((await request(app, runner.token)).statusCode, 204)
    await makePipeline(project, CI)
    await execute('update runners set active = false where id = ?', [runner.id])
    t.equal((await request(app, runner.token)).statusCode, 204)
    t.equal((await request(app, 'wrong')).statusCode, 403)
  })

  t.test('asking writes nothing while nothing waits', async t => {
    const runner = await register(app, await tokenOf(await factory.project()))
    const before = await row('select * from runners where id = ?', [runner.id])
    t.equal((await request(app, runner.token)).statusCode, 204)
    t.same(await row('select * from runners where id = ?', [runner.id]), before)
  })

  t.test('the document has the types that the decoder wants', async t => {
    const { project, job, runner } = await running(`
variables: { GIT_DEPTH: "7", SECONDS: "5" }
unit:
  image: { name: node, entrypoint: [''] }
  services: [mysql, { name: 'redis:7', alias: cache, command: [redis-server, --save, ''] }]
  before_script: [setup]
  script: [make, make lint]
  after_script: [clean]
  cache: { key: k, paths: [node_modules] }
  artifacts: { paths: [out], expire_in: 1 day, name: result }
`)
    t.match(job, {
      id: Number,
      token: String,
      allow_git_fetch: true,
      job_info: { id: job.id, name: 'unit', stage: 'test', project_id: project.id, project_full_path: project.path },
      git_info: { ref: 'master', ref_type: 'branch', depth: 7, before_sha: '0'.repeat(40), repo_object_format: 'sha1' },
      runner_info: { timeout: 3600 },
      image: { name: 'node', entrypoint: [''] },
      services: [{ name: 'mysql' }, { name: 'redis:7', alias: 'cache', command: ['redis-server', '--save', ''] }],
      cache: [
        { key: 'k-protected', paths: ['node_modules'], policy: 'pull-push', untracked: false, when: 'on_success' }
      ],
      credentials: [],
      dependencies: [],
      features: { failure_reasons: ['script_failure'] }
    })
    const { steps, artifacts, git_info, variables } = job as unknown as {
      steps: unknown
      artifacts: unknown
      git_info: { refspecs: string[]; repo_url: string; sha: string }
      variables: { key: string; value: unknown; public: boolean; masked: boolean; file: boolean; raw: boolean }[]
    }
    t.same(steps, [
      {
        name: 'script',
        script: ['setup', 'make', 'make lint'],
        timeout: 3600,
        when: 'on_success',
        allow_failure: false
      },
      { name: 'after_script', script: ['clean'], timeout: 300, when: 'always', allow_failure: true }
    ])
    t.same(artifacts, [
      {
        name: 'result',
        untracked: false,
        paths: ['out'],
        exclude: [],
        when: 'on_success',
        artifact_type: 'archive',
        artifact_format: 'zip',
        expire_in: '1 day'
      }
    ])
    t.match(git_info.refspecs[0], new RegExp(`^\\+${git_info.sha}:refs/pipelines/\\d+$`))
    t.equal(git_info.refspecs[1], `+${git_info.sha}:refs/remotes/origin/master`)
    t.match(git_info.repo_url, `//gitlab-ci-token:${job.token}@`)
    t.ok(variables.every(({ value }) => typeof value === 'string'))
    t.match(
      variables.find(({ key }) => key === 'CI_JOB_TOKEN'),
      { public: false, masked: true, file: false, raw: false }
    )
    t.match(
      variables.find(({ key }) => key === 'CI_RUNNER_ID'),
      { value: String(runner.id), public: true, masked: false }
    )
    t.notOk('run' in job)
  })

  t.test('the whole history comes with all branches and tags, and a tag with its own ref', async t => {
    const { job } = await running('variables: { GIT_DEPTH: "0" }\ntest: { script: x }\n')
    t.match(job, { git_info: { depth: 0 } })
    const { refspecs } = job.git_info as { refspecs: string[] }
    t.same(refspecs.slice(1), ['+refs/heads/*:refs/remotes/origin/*', '+refs/tags/*:refs/tags/*'])
    const project = await factory.project()
    await makePipeline(project, CI)
    await execute("update builds set tag = true, ref = 'v1' where project_id = ?", [project.id])
    const tagged = await take(app, (await register(app, await tokenOf(project), { maximum_timeout: 60 })).token)
    t.match(tagged, { git_info: { ref_type: 'tag' }, runner_info: { timeout: 60 } })
    const { refspecs: single, sha } = tagged.git_info as { refspecs: string[]; sha: string }
    t.match(single, [new RegExp(`^\\+${sha}:refs/pipelines/\\d+$`)], 'a tag that is gone does not come')
    t.equal(single.length, 1)
  })

  t.test('a build that cannot be described fails, and the runner continues', async t => {
    const project = await factory.project()
    const [build] = await makePipeline(project, CI)
    await execute("update builds set plan = 'no JSON' where project_id = ?", [project.id])
    const runner = await register(app, await tokenOf(project))
    t.equal((await request(app, runner.token)).statusCode, 204)
    t.match(await stateOf(build ?? { id: 0 }), { status: 'failed', failure_reason: 'runner_system_failure' })
  })
})

t.test('the trace', async t => {
  t.test('grows by bytes at its end', async t => {
    const { job } = await running()
    const euro = Buffer.from('€')
    const first = await patch(app, job, 0, Buffer.concat([Buffer.from('one '), euro.subarray(0, 1)]))
    t.equal(first.statusCode, 202)
    t.match(first.headers, { 'job-status': 'running', range: '0-5' })
    t.match((await patch(app, job, 5, euro.subarray(1))).headers, { range: '0-7' })
    const empty = await patch(app, job, 7, '')
    t.equal(empty.statusCode, 202)
    t.equal(await traceOf(job), 'one €')
  })

  t.test('a wrong offset gets the right one, and repeated bytes are accepted', async t => {
    const { job } = await running()
    await patch(app, job, 0, 'first')
    t.match(await patch(app, job, 0, 'first'), { statusCode: 202, headers: { range: '0-5' } })
    t.match(await patch(app, job, 9, 'later'), { statusCode: 416, headers: { range: '0-5' } })
    t.match(await patch(app, job, 0, 'other'), { statusCode: 416, headers: { range: '0-5' } })
    t.match(await patch(app, job, 5, ' later.'), { statusCode: 202, headers: { range: '0-12' } })
    t.equal(await traceOf(job), 'first later.')
  })

  t.test('only the start of the range counts; without a range 400', async t => {
    const { job } = await running()
    for (const [at, range] of ['0-1', '1-99', '2-0'].entries()) {
      const headers = { 'job-token': job.token, 'content-type': 'text/plain', 'content-range': range }
      const answer = await ask('PATCH', `/jobs/${job.id}/trace`, { headers, payload: 'x' })
      t.match(answer, { statusCode: 202, headers: { range: `0-${at + 1}` } })
    }
    const headers = { 'job-token': job.token, 'content-type': 'text/plain' }
    t.equal((await ask('PATCH', `/jobs/${job.id}/trace`, { headers, payload: 'x' })).statusCode, 400)
  })

  t.test('a wrong token and a build that has ended: 403, with the status for the runner that held it', async t => {
    const { job } = await running()
    t.equal((await patch(app, { id: job.id, token: 'wrong' }, 0, 'x')).statusCode, 403)
    t.equal((await patch(app, { id: job.id + 1000, token: job.token }, 0, 'x')).statusCode, 403)
    await cancelBuild(job.id)
    t.match(await patch(app, job, 0, 'x'), { statusCode: 403, headers: { 'job-status': 'canceled' } })
    const other = await patch(app, { id: job.id, token: 'wrong' }, 0, 'x')
    t.equal(other.headers['job-status'], undefined)
    t.equal(await traceOf(job), '')
  })

  t.test('a trace above the limit fails the build', async t => {
    const { job } = await running()
    const most = config().runner.output_limit + 65_536
    const half = Buffer.alloc(most / 2, '.')
    t.equal((await patch(app, job, 0, half)).statusCode, 202)
    t.equal((await patch(app, job, half.length, half)).statusCode, 202)
    t.match(await patch(app, job, most, 'x'), { statusCode: 403, headers: { 'job-status': 'failed' } })
    const limit = config().runner.output_limit
    const last = `\nERROR: the output is longer than ${limit} bytes (runner.output_limit); the build stops\n`
    t.match(await stateOf(job), { status: 'failed', failure_reason: 'output_limit', trace_size: most + last.length })
    t.equal((await readTrace({ build: job.id, attempt: 1 }, most)).toString(), last)
  })

  t.test('secrets are masked in as many bytes, also when they are split between requests', async t => {
    const project = await factory.project()
    await app
      .as(project.owner)
      .post(`/projects/${project.id}/variables`, { key: 'PASS', value: 'hunter2-long\nsecond-line', masked: true })
    await app.as(project.owner).post(`/projects/${project.id}/variables`, { key: 'SHORT', value: 'true' })
    await makePipeline(project, CI)
    const runner = await register(app, await tokenOf(project))
    const job = await take(app, runner.token)
    const text = `a ${job.token} b hunter2-long c second-line d ${runner.token} e true.`
    let at = 0
    for (const piece of [text.slice(0, 20), text.slice(20, 55), text.slice(55)]) {
      t.equal((await patch(app, job, at, piece)).headers.range, `0-${at + piece.length}`)
      at += piece.length
    }
    const stars = (length: number) => '*'.repeat(length)
    t.equal(await traceOf(job), `a ${stars(40)} b ${stars(12)} c ${stars(11)} d ${stars(20)} e true.`)
  })
})

t.test('a secret that arrives in small pieces', async t => {
  const SECRET = 'sixteen-letters!'
  const STARS = '*'.repeat(16)
  async function withSecret() {
    const project = await factory.project()
    await app.as(project.owner).post(`/projects/${project.id}/variables`, { key: 'PASS', value: SECRET })
    await makePipeline(project, CI)
    const runner = await register(app, await tokenOf(project))
    return take(app, runner.token)
  }
  /** The same code in another process remembers nothing of this one. */
  const place = import.meta.resolve('../../../../src/areas/ci/runners/external/masked-traces.js')
  const other: typeof maskedTraces = await import(`${place}?other`)
  const elsewhere = async (job: { id: number; token: string }, start: number, piece: string) =>
    other.appendMasked(await requireHeld(job.id, job.token), start, Buffer.from(piece), 1e6)

  t.test('is never shown, byte by byte and by two servers', async t => {
    const job = await withSecret()
    const text = `so sixteen-sixteen-letters! ${SECRET}${SECRET} six`
    const shown = `so sixteen-${STARS} ${STARS}${STARS} six`
    for (let at = 0; at < text.length; at++) {
      const piece = text.charAt(at)
      if (at % 3 === 2) t.equal(await elsewhere(job, at, piece), at + 1)
      else t.equal((await patch(app, job, at, piece)).headers.range, `0-${at + 1}`)
      const trace = await traceOf(job)
      t.ok(shown.startsWith(trace), `after ${at + 1} bytes: ${trace}`)
    }
    t.equal(await traceOf(job), shown.slice(0, -3))
    t.match(await row('select trace_tail_encrypted as box from builds where id = ?', [job.id]), { box: Buffer })
    t.equal((await update(app, job, 'success')).statusCode, 200)
    t.equal(await traceOf(job), shown)
    t.match(await stateOf(job), { trace_size: text.length })
    t.match(await row('select trace_tail_encrypted as box from builds where id = ?', [job.id]), { box: null })
  })

  t.test('stays hidden when the build ends before it is complete', async t => {
    const job = await withSecret()
    t.equal((await patch(app, job, 0, 'so ')).headers.range, '0-3')
    t.equal((await patch(app, job, 3, SECRET.slice(0, 15))).headers.range, '0-18')
    t.equal(await traceOf(job), 'so ')
    await update(app, job, 'failed')
    t.equal(await traceOf(job), `so ${'*'.repeat(15)}`)
  })

  t.test('is repeated by the runner when a crash has lost its beginning', async t => {
    const job = await withSecret()
    await patch(app, job, 0, `so ${SECRET.slice(0, 9)}`)
    await execute('update builds set trace_tail_encrypted = null where id = ?', [job.id])
    await t.rejects(elsewhere(job, 12, 'x'), { message: 'the trace has 3 bytes' })
    t.equal(await elsewhere(job, 3, `${SECRET} end.`), 24)
    t.equal(await traceOf(job), `so ${STARS} end.`)
  })

  t.test('is hidden in the whole texts of old runners', async t => {
    const job = await withSecret()
    await update(app, job, 'running', { trace: `so ${SECRET.slice(0, 15)}` })
    t.equal(await traceOf(job), 'so ')
    await update(app, job, 'success', { trace: `so ${SECRET}` })
    t.equal(await traceOf(job), `so ${STARS}`)
  })
})

t.test('an update', async t => {
  t.test('a sign of life keeps the build and tells its status', async t => {
    const { job } = await running()
    await execute('update builds set lease_until = ? where id = ?', [new Date(0), job.id])
    t.match(await update(app, job, 'running'), { statusCode: 200, headers: { 'job-status': 'running' } })
    const found = await row<{ lease_until: Date }>('select lease_until from builds where id = ?', [job.id])
    t.ok((found?.lease_until.getTime() ?? 0) > Date.now())
    await cancelBuild(job.id)
    t.match(await update(app, job, 'running'), { statusCode: 403, headers: { 'job-status': 'canceled' } })
    t.match(await update(app, job, 'success'), { statusCode: 403, headers: { 'job-status': 'canceled' } })
    t.match(await stateOf(job), { status: 'canceled' })
  })

  t.test('success ends the build, and its token', async t => {
    const { job } = await running()
    await patch(app, job, 0, 'done\n')
    const answer = await update(app, job, 'success', {
      output: { checksum: 'crc32:00000000', bytesize: 5 },
      exit_code: 0
    })
    t.equal(answer.statusCode, 200)
    t.match(await stateOf(job), { status: 'success', exit_code: 0, trace_size: 5 })
    t.match(await update(app, job, 'success'), { statusCode: 403, headers: { 'job-status': 'success' } })
  })

  t.test('failures have a reason', async t => {
    const cases: [object, object][] = [
      [{}, { failure_reason: 'script_failure', exit_code: null }],
      [{ failure_reason: 'job_execution_timeout' }, { failure_reason: 'job_execution_timeout' }],
      [
        { failure_reason: 'a_new_one', exit_code: 3 },
        { failure_reason: 'unknown_failure', exit_code: 3 }
      ]
    ]
    for (const [more, expected] of cases) {
      const { job } = await running()
      t.equal((await update(app, job, 'failed', more)).statusCode, 200)
      t.match(await stateOf(job), { status: 'failed', ...expected })
    }
  })

  t.test('the whole trace of an old runner replaces what is stored', async t => {
    const { job } = await running()
    await patch(app, job, 0, 'only the beginning of it')
    t.equal((await update(app, job, 'success', { trace: `all of ${job.token}` })).statusCode, 200)
    t.equal(await traceOf(job), `all of ${'*'.repeat(40)}`)
  })

  t.test('a state that no report has: 400', async t => {
    const { job } = await running()
    t.equal((await update(app, job, 'canceled')).statusCode, 400)
  })
})

t.test('artifacts', async t => {
  const address = await app.fastify.listen({ host: '127.0.0.1', port: 0 })
  const { port } = new URL(address)

  /** Streams a form without a length, as runners do. */
  const upload = (job: Job, query: string, chunks: readonly Buffer[]) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const request = send(
        {
          port,
          method: 'POST',
          path: `/api/v4/jobs/${job.id}/artifacts${query}`,
          headers: {
            'job-token': job.token,
            'content-type': 'multipart/form-data; boundary=b0',
            'transfer-encoding': 'chunked'
          }
        },
        answer => {
          let body = ''
          answer.on('data', chunk => {
            body += String(chunk)
          })
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, body }))
        }
      )
      request.on('error', reject)
      request.write(
        '--b0\r\nContent-Disposition: form-data; name="file"; filename="../my out.zip"\r\nContent-Type: application/octet-stream\r\n\r\n'
      )
      for (const chunk of chunks) request.write(chunk)
      request.end('\r\n--b0--\r\n')
    })

  t.test('are streamed up, and down by a build of the same pipeline', async t => {
    const { job, runner } = await running(
      'stages: [a, b]\nmake: { stage: a, script: x, artifacts: { paths: [out] } }\nuse: { stage: b, script: x }\n'
    )
    await execute(
      'insert ignore into project_statistics (project_id, updated_at) select project_id, now() from builds where id = ?',
      [job.id]
    )
    const bytes = [Buffer.from('PK one'), Buffer.alloc(200_000, 7)]
    t.match(await upload(job, '?expire_in=2+days&artifact_format=zip&artifact_type=archive', bytes), { status: 201 })
    t.match(await upload(job, '', bytes), { status: 201 }, 'once more, after a lost answer')
    await upload(job, '?expire_in=2+days', bytes)
    t.match(
      await row('select artifacts_filename, artifacts_size, artifacts_expire_at from builds where id = ?', [job.id]),
      { artifacts_filename: 'my out.zip', artifacts_size: 200_006, artifacts_expire_at: Date }
    )
    t.match(
      await row(
        'select build_artifacts_size as size from project_statistics s join builds b on b.project_id = s.project_id where b.id = ?',
        [job.id]
      ),
      { size: 200_006 }
    )
    t.equal((await update(app, job, 'success')).statusCode, 200)
    const next = await take(app, runner.token)
    t.same(next.dependencies, [
      { id: job.id, name: 'make', token: next.token, artifacts_file: { filename: 'my out.zip', size: 200_006 } }
    ])
    const down = (id: number, token: string) =>
      ask('GET', `/jobs/${id}/artifacts?direct_download=false`, { headers: { 'job-token': token } })
    const got = await down(job.id, next.token)
    t.equal(got.statusCode, 200)
    t.same(got.rawPayload, Buffer.concat(bytes))
    t.equal((await down(job.id, job.token)).statusCode, 403, 'the token of the producer has ended')
    t.equal((await down(next.id, next.token)).statusCode, 404, 'it has none itself')
    const other = await running()
    t.equal((await down(job.id, other.job.token)).statusCode, 403, 'another pipeline')
  })

  t.test('refusals', async t => {
    const { job } = await running()
    const headers = { 'job-token': job.token }
    t.equal((await upload({ ...job, token: 'x' }, '', [Buffer.from('x')])).status, 403)
    t.equal((await upload(job, '?artifact_type=..', [Buffer.from('x')])).status, 400)
    t.equal((await upload(job, '?artifact_format=gzip', [Buffer.from('x')])).status, 400)
    t.equal((await upload(job, '?artifact_type=junit&artifact_format=gzip', [Buffer.from('x')])).status, 201)
    t.match(await row('select artifacts_filename from builds where id = ?', [job.id]), { artifacts_filename: null })
    t.equal((await upload(job, '?expire_in=soon', [Buffer.from('x')])).status, 400)
    t.equal((await ask('POST', `/jobs/${job.id}/artifacts`, { headers })).statusCode, 400)
    await cancelBuild(job.id)
    t.equal((await upload(job, '', [Buffer.from('x')])).status, 403)
  })

  t.test('reported variables reach later builds, of runners that can upload them', async t => {
    const ci = `stages: [a, b]
make: { stage: a, script: x, artifacts: { paths: [out], reports: { dotenv: [a.env, b.env] } } }
use: { stage: b, script: x }
`
    const { job, runner } = await running(ci)
    t.match(job.artifacts, [{ artifact_type: 'archive' }, { artifact_type: 'dotenv', artifact_format: 'gzip' }])
    const query = '?artifact_type=dotenv&artifact_format=gzip'
    const refused: [string, Buffer, number][] = [
      [query, Buffer.from('A=1'), 400],
      [query, gzipSync('no name'), 400],
      [query, gzipSync(Buffer.alloc(100_000, 'A=1\n')), 413],
      [query, Buffer.alloc(100_000), 413],
      ['?artifact_type=dotenv&artifact_format=zip', Buffer.from('A=1'), 400]
    ]
    for (const [asked, bytes, status] of refused) t.equal((await upload(job, asked, [bytes])).status, status)
    t.equal((await upload(job, query, [gzipSync('A=1\n'), gzipSync('B=two\n')])).status, 201, 'two files')
    await update(app, job, 'success')
    const { variables } = (await take(app, runner.token)) as unknown as { variables: { key: string; value: string }[] }
    t.match(
      variables.filter(({ key }) => key === 'A' || key === 'B'),
      [
        { key: 'A', value: '1' },
        { key: 'B', value: 'two' }
      ]
    )
    const project = await factory.project()
    await makePipeline(project, ci)
    const { token } = await register(app, await tokenOf(project))
    const old = await ask('POST', '/jobs/request', { payload: { token, info: { features: { artifacts: true } } } })
    t.match(old.json().artifacts, [{ artifact_type: 'archive' }])
    t.equal(old.json().artifacts.length, 1)
  })

  t.test('above the limit 413, and nothing stays', async t => {
    const { job } = await running()
    const chunk = Buffer.alloc(1_048_576)
    const chunks = Array.from({ length: config().artifacts.max_size / chunk.length + 1 }, () => chunk)
    t.match(await upload(job, '', chunks), { status: 413, body: /413 Request Entity Too Large/ })
    t.match(await row('select artifacts_filename from builds where id = ?', [job.id]), { artifacts_filename: null })
  })
})

t.test('the token of a build clones its project as long as the build runs, also when nobody started it', async t => {
  const fetch = async ({ token }: { token: string }, { path }: { path: string }, user = 'gitlab-ci-token') => {
    const authorization = `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`
    const url = `/${path}.git/info/refs?service=git-upload-pack`
    return (await app.fastify.inject({ url, headers: { authorization } })).statusCode
  }
  const { job, project } = await running()
  t.equal(await fetch(job, project), 200)
  t.equal(await fetch(job, project, 'somebody'), 401)
  await execute('update builds set user_id = null where id = ?', [job.id])
  t.equal(await fetch(job, project), 200)
  const push = `/${project.path}.git/info/refs?service=git-receive-pack`
  const authorization = `Basic ${Buffer.from(`gitlab-ci-token:${job.token}`).toString('base64')}`
  t.not((await app.fastify.inject({ url: push, headers: { authorization } })).statusCode, 200)
  t.not(await fetch(job, await factory.project()), 200, 'no other project')
  await update(app, job, 'success')
  t.equal(await fetch(job, project), 401)
})

t.test('git fetches what the document asks for, also when the branch has moved on, and a tag', async t => {
  const { job, project, runner } = await running()
  await app
    .as(project.owner)
    .post(`/projects/${project.id}/repository/tags`, { tag_name: 'v1', ref: 'master', message: 'one' })
  await app.as(project.owner).post(`/projects/${project.id}/repository/tags`, { tag_name: 'v2', ref: 'master' })
  await factory.file(project, 'later', 'text')
  const { port } = app.fastify.server.address() as AddressInfo
  const { refspecs, sha } = job.git_info as { refspecs: string[]; sha: string }
  const folder = t.testdir()
  const git = async (...args: string[]) => (await promisify(execFile)('git', ['-C', folder, ...args])).stdout.trim()
  const url = `http://gitlab-ci-token:${job.token}@127.0.0.1:${port}/${project.path}.git`
  await git('init', '-q')
  for (let turn = 0; turn < 2; turn++) {
    await git('fetch', '-q', '--depth', '50', '--prune', url, ...refspecs)
    await git('checkout', '-f', '-q', sha)
    t.equal(await git('rev-parse', 'HEAD', 'refs/remotes/origin/master'), `${sha}\n${sha}`)
  }
  for (const tag of ['v1', 'v2']) {
    await execute('update builds set tag = 1, ref = ?, status = ? where id = ?', [tag, 'pending', job.id])
    const tagged = await take(app, runner.token)
    const { refspecs } = tagged.git_info as { refspecs: string[] }
    t.equal(refspecs[1], `+refs/tags/${tag}:refs/tags/${tag}`)
    const place = url.replace(job.token, tagged.token)
    await git('tag', '-d', tag).catch(() => undefined)
    await git('fetch', '-q', '--depth', '50', '--prune', place, ...refspecs)
    t.equal(await git('rev-parse', `refs/tags/${tag}^{commit}`), sha)
  }
})

t.test('a runner that is removed can end its build', async t => {
  const { job, runner } = await running()
  await ask('DELETE', '/runners', { payload: { token: runner.token } })
  t.equal((await patch(app, job, 0, 'on')).statusCode, 202)
  t.equal((await update(app, job, 'success')).statusCode, 200)
  t.equal((await request(app, runner.token)).statusCode, 403)
})

t.test('an outside runner never takes over a build', async t => {
  const { job, runner } = await running()
  await execute('update builds set lease_until = ? where id = ?', [new Date(0), job.id])
  t.equal((await request(app, runner.token)).statusCode, 204)
  t.match(await stateOf(job), { status: 'running' })
})
