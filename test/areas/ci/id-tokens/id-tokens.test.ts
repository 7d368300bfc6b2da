// Tokens of builds, from the CI file to a verifier that knows nothing but the public URL.
import { createPublicKey, verify, type webcrypto } from 'node:crypto'
import { signingKey } from '../../../../src/areas/ci/id-tokens/signing-key.js'
import { publicUrl } from '../../../../src/config.js'
import { execute, row } from '../../../../src/db/connect/sql.js'
import { prepareHome } from '../../../../src/home.js'
import { decrypt } from '../../../../src/secrets.js'
import { readTrace } from '../../../../src/storage/traces.js'
import { testApp } from '../../../helpers/app.js'
import { factory, type TestProject } from '../../../helpers/factory.js'
import t from '../../../helpers/tap.js'
import { makePipeline } from '../builds/make-builds.js'
import { type Job, patch, register, take, tokenOf } from '../runners/stock-runner.js'
import { makeVariable } from '../variables/make-variables.js'

const app = await testApp(t)
prepareHome()

type Claims = Record<string, unknown>
interface Variable {
  readonly key: string
  readonly value: string
  readonly public: boolean
  readonly masked: boolean
  readonly raw: boolean
}

/** The newest build of a project, as its runner gets it. */
async function taken(project: TestProject, ci: string, more: object = {}): Promise<Job> {
  await makePipeline(project, ci)
  return take(app, (await register(app, await tokenOf(project), more)).token)
}

const variableOf = (job: Job, name: string) => (job.variables as Variable[]).find(({ key }) => key === name)

const ask = async (url: string) => app.nobody.inject({ url })

/** Verifies a token as others do: with what the issuer publishes. */
async function verified(token = ''): Promise<Claims> {
  const discovery = (await ask('/.well-known/openid-configuration')).json()
  const { keys } = (await ask(new URL(discovery.jwks_uri).pathname)).json() as {
    keys: (webcrypto.JsonWebKey & { kid: string })[]
  }
  const [header = '', payload = '', signature = ''] = token.split('.')
  const { alg, kid } = JSON.parse(Buffer.from(header, 'base64url').toString())
  const jwk = keys.find(key => key.kid === kid)
  if (alg !== 'RS256' || !jwk) throw new Error('no key fits')
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  if (!verify('sha256', Buffer.from(`${header}.${payload}`), key, Buffer.from(signature, 'base64url'))) {
    throw new Error('the signature is wrong')
  }
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims
  if (claims.iss !== discovery.issuer) throw new Error('another issuer')
  return claims
}

const claimsIn = (job: Job, name: string) => verified(variableOf(job, name)?.value)

t.test('a build proves which one it is', async t => {
  const project = await factory.project()
  const job = await taken(
    project,
    'deploy:\n  script: x\n  environment: production\n  id_tokens: { CLOUD: { aud: "https://cloud.example.com" } }\n'
  )
  t.match(variableOf(job, 'CLOUD'), { public: false, masked: true, raw: true })
  const claims = await claimsIn(job, 'CLOUD')
  const { namespace_id: namespaceId } = (await row<{ namespace_id: number }>(
    'select namespace_id from projects where id = ?',
    [project.id]
  )) ?? { namespace_id: 0 }
  const { iat, exp, nbf, jti, ...rest } = claims as { iat: number; exp: number; nbf: number; jti: string }
  const { owner } = project
  t.same(rest, {
    iss: publicUrl(),
    sub: `project_path:${project.path}:ref_type:branch:ref:master`,
    aud: 'https://cloud.example.com',
    namespace_id: String(namespaceId),
    namespace_path: project.path.split('/')[0],
    project_id: String(project.id),
    project_path: project.path,
    user_id: String(owner.id),
    user_login: owner.username,
    user_email: (await row<{ email: string }>('select email from users where id = ?', [owner.id]))?.email,
    pipeline_id: String((job.job_info as { pipeline_id: number }).pipeline_id),
    pipeline_source: 'push',
    job_id: String(job.id),
    ref: 'master',
    ref_type: 'branch',
    ref_path: 'refs/heads/master',
    ref_protected: 'true',
    environment: 'production',
    sha: (job.git_info as { sha: string }).sha,
    runner_id: (await row<{ runner_id: number }>('select runner_id from builds where id = ?', [job.id]))?.runner_id,
    runner_environment: 'self-hosted'
  })
  t.equal(exp - iat, 3600)
  t.ok(nbf <= iat && Math.abs(iat - Date.now() / 1000) < 3600)
  t.match(jti, /^[0-9a-f-]{36}$/)
  const published = (await ask('/.well-known/openid-configuration')).json().claims_supported as string[]
  t.same([...published].sort(), Object.keys(claims).sort())
})

t.test('a token that was changed, or signed by another key, is refused', async t => {
  const project = await factory.project()
  const job = await taken(project, 'a: { script: x, id_tokens: { A: { aud: a } } }\n')
  const [header, payload = '', signature] = (variableOf(job, 'A')?.value ?? '').split('.')
  const other = { ...JSON.parse(Buffer.from(payload, 'base64url').toString()), project_path: 'other/project' }
  const forged = Buffer.from(JSON.stringify(other)).toString('base64url')
  await t.rejects(verified([header, forged, signature].join('.')), /signature is wrong/)
})

t.test('audiences: lists, variables, and what jobs take over', async t => {
  const project = await factory.project()
  await makeVariable(project, 'CLOUD_HOST', 'cloud.example.com')
  await makeVariable(project, 'SECOND', 'of the project')
  const ci = `default:
  id_tokens:
    FIRST: { aud: "https://$CLOUD_HOST/$CI_PROJECT_ID" }
    SECOND: { aud: [one, "$CI_COMMIT_BRANCH"] }
a: { script: x }
`
  const job = await taken(project, ci)
  t.match(await claimsIn(job, 'FIRST'), { aud: `https://cloud.example.com/${project.id}` })
  t.match(await claimsIn(job, 'SECOND'), { aud: ['one', 'master'] }, 'the token wins over the variable')
  t.equal((job.variables as Variable[]).filter(({ key }) => key === 'SECOND').length, 1)
})

t.test('a job without the key gets no token, and makes no key', async t => {
  await execute('update application_settings set id_token_key_encrypted = null')
  const job = await taken(await factory.project(), 'a: { script: x }\n')
  t.notMatch(JSON.stringify(job), '"eyJ')
  t.match(await row('select id_token_key_encrypted as box from application_settings'), { box: null })
})

t.test('a token ends with the time of its build, and within a day', async t => {
  const lives = async (job: Job) => {
    const { exp, iat } = (await claimsIn(job, 'A')) as { exp: number; iat: number }
    return exp - iat
  }
  const ci = (timeout: string) => `a: { script: x, timeout: ${timeout}, id_tokens: { A: { aud: a } } }\n`
  t.equal(await lives(await taken(await factory.project(), ci('90s'))), 90)
  t.equal(await lives(await taken(await factory.project(), ci('90s'), { maximum_timeout: 60 })), 60)
  t.equal(await lives(await taken(await factory.project(), ci('1 week'))), 86_400)
})

t.test('builds of tags and of trigger tokens say so', async t => {
  const project = await factory.project()
  await makePipeline(project, 'a: { script: x, id_tokens: { A: { aud: a } } }\n')
  await execute(
    "update builds set tag = true, ref = 'v1', user_id = null, ref_protected = false where project_id = ?",
    [project.id]
  )
  await execute("update pipelines set source = 'trigger', user_id = null where project_id = ?", [project.id])
  const claims = await claimsIn(await take(app, (await register(app, await tokenOf(project))).token), 'A')
  t.match(claims, {
    sub: `project_path:${project.path}:ref_type:tag:ref:v1`,
    pipeline_source: 'trigger',
    ref_type: 'tag',
    ref_path: 'refs/tags/v1',
    ref_protected: 'false'
  })
  for (const name of ['user_id', 'user_login', 'user_email', 'environment']) t.notOk(name in claims, name)
})

t.test('traces show no token, wherever the text is cut', async t => {
  const project = await factory.project()
  const job = await taken(project, 'a: { script: x, id_tokens: { A: { aud: a } } }\n')
  // The server remembers no token: that of another build is hidden, too.
  const other = await taken(await factory.project(), 'a: { script: x, id_tokens: { A: { aud: a } } }\n')
  const [mine, others] = [job, other].map(each => variableOf(each, 'A')?.value ?? '') as [string, string]
  // No token begins with a line break: the trace does not keep it back.
  const text = `first ${mine} and "${others}" end\n`
  const [half, last] = [mine.length - 100, mine.length + others.length]
  let at = 0
  for (const piece of [text.slice(0, 40), text.slice(40, half), text.slice(half, last), text.slice(last)]) {
    t.equal((await patch(app, job, at, piece)).headers.range, `0-${at + piece.length}`)
    at += piece.length
  }
  const stars = (token: string) => '*'.repeat(token.length)
  t.equal(
    (await readTrace({ build: job.id, attempt: 1 })).toString(),
    `first ${stars(mine)} and "${stars(others)}" end\n`
  )
})

t.test('the key', async t => {
  const stored = async () =>
    (await row<{ box: Buffer }>('select id_token_key_encrypted as box from application_settings'))?.box

  t.test('those who need it first at the same time get the same one', async t => {
    await execute('update application_settings set id_token_key_encrypted = null')
    const made = await Promise.all([signingKey(), signingKey(), signingKey(), signingKey()])
    t.equal(new Set(made.map(({ id }) => id)).size, 1)
    t.equal((await signingKey()).id, made[0].id)
  })

  t.test('it is stored encrypted', async t => {
    const { privateKey } = await signingKey()
    const box = await stored()
    const text = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64')
    t.equal(decrypt(box ?? Buffer.alloc(0)), text)
    t.notOk(box?.includes(text.slice(0, 40)))
  })

  t.test('one that cannot be decrypted any more is replaced', async t => {
    const { id } = await signingKey()
    await execute("update application_settings set id_token_key_encrypted = 'of another key'")
    const job = await taken(await factory.project(), 'a: { script: x, id_tokens: { A: { aud: a } } }\n')
    t.ok(await claimsIn(job, 'A'))
    t.not((await signingKey()).id, id)
  })

  t.test('only its public half is published', async t => {
    const answer = await ask('/oauth/discovery/keys')
    const { id, publicKey } = await signingKey()
    t.same(answer.json(), { keys: [{ kty: 'RSA', use: 'sig', alg: 'RS256', kid: id, ...publicKey }] })
    t.equal(answer.headers['cache-control'], 'public, max-age=3600')
    t.match(answer.headers['content-type'], /^application\/json/)
  })
})
