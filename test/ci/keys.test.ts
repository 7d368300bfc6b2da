// The later keys of a CI file: their meaning, their errors, and their cost.
import { type CiFiles, type CiJob, parseConfig, readConfig } from '../../src/ci/config.js'
import { parseDotenv } from '../../src/ci/dotenv.js'
import { retriesAgain } from '../../src/ci/keys/retry.js'
import { type PlanContext, type PlannedBuild, planPipeline } from '../../src/ci/plan.js'
import { ruleJudge } from '../../src/ci/rules/evaluate.js'
import { readExpression } from '../../src/ci/rules/expression.js'
import t from '../helpers/tap.js'

const X = 'script: x'

function filesOf(files: Record<string, string>): CiFiles {
  return { read: async path => files[path] ?? null, list: async () => Object.keys(files) }
}

/** The last job of a file. */
async function lastJob(text: string, files: Record<string, string> = {}): Promise<CiJob | undefined> {
  const { config, errors } = await readConfig(text, filesOf(files))
  if (errors.length > 0) throw new Error(errors.join('; '))
  return config?.jobs.at(-1)
}

t.test('jobs inherit keys of others', async t => {
  const cases: Record<string, [text: string, expected: Partial<CiJob>, files?: Record<string, string>]> = {
    extends: [
      `.a: {script: a, tags: [a], variables: {A: 1, B: 1}}\nb: {extends: .a, tags: [b], variables: {B: 2}}`,
      {
        script: ['a'],
        tags: ['b'],
        variables: [
          { key: 'A', value: '1' },
          { key: 'B', value: '2' }
        ]
      }
    ],
    'extends of several jobs: the later wins': [
      `.a: {script: a, when: always}\n.b: {script: b}\nc: {extends: [.a, .b]}`,
      { script: ['b'], when: 'always' }
    ],
    'extends over levels': [
      `.a: {tags: [a]}\n.b: {extends: .a, ${X}}\nc: {extends: .b, when: always}`,
      { tags: ['a'], script: ['x'], when: 'always' }
    ],
    'null removes a key': [`.a: {${X}, tags: [a]}\nb: {extends: .a, tags: }`, { tags: [] }],
    reference: [
      `.a: {script: [one, two], tags: [a]}\nb: {script: [zero, !reference [.a, script], three], tags: !reference [.a, tags]}`,
      { script: ['zero', 'one', 'two', 'three'], tags: ['a'] }
    ],
    'a reference to a value from extends': [
      `.a: {script: [a]}\n.b: {extends: .a}\nc: {script: [!reference [.b, script]]}`,
      { script: ['a'] }
    ],
    'reference to a reference': [
      `.a: {script: [a]}\n.b: {script: [b, !reference [.a, script]]}\nc: {script: !reference [.b, script]}`,
      { script: ['b', 'a'] }
    ],
    'aliases of lists in lists': [`.a: &a [one, two]\nb: {script: [*a, three]}`, { script: ['one', 'two', 'three'] }],
    default: [
      `default: {image: i, tags: [d], retry: 1, timeout: 1 hour, interruptible: true}\na: {${X}}`,
      {
        image: 'i',
        tags: ['d'],
        retry: { max: 1, when: [], exitCodes: [] },
        timeout: 3600,
        interruptible: true
      }
    ],
    'a key of the job replaces the default': [
      `default: {tags: [d], retry: 1}\na: {${X}, tags: [], retry: 0}`,
      { tags: [], retry: null }
    ],
    'inherit by list': [
      `default: {image: i, tags: [d]}\nvariables: {A: 1, B: 2}\na: {${X}, inherit: {default: [tags], variables: [B]}}`,
      { image: null, tags: ['d'], variables: [{ key: 'B', value: '2' }] }
    ],
    'tokens of the file': [
      `default: {id_tokens: {A: {aud: a}}}\na: {${X}}`,
      { idTokens: [{ name: 'A', audiences: ['a'] }] }
    ],
    'tokens of the job replace those of the file': [
      `default: {id_tokens: {A: {aud: a}}}\na: {${X}, id_tokens: {B: {aud: [b, c, b]}}}`,
      { idTokens: [{ name: 'B', audiences: ['b', 'c'] }] }
    ],
    'a whole pipeline': [
      'a: {stage: deploy, needs: {pipeline: $UP}}',
      { mirrors: '$UP', needs: null, script: [], outerNeeds: [] }
    ],
    'a whole pipeline after a job': [
      `b: {${X}}\na: {needs: [b, {pipeline: g/p}]}`,
      { mirrors: 'g/p', needs: [{ job: 'b', artifacts: true, optional: false }] }
    ],
    'inherit nothing': [
      `default: {image: i}\nvariables: {A: 1}\na: {${X}, inherit: {default: false, variables: false}}`,
      { image: null, variables: [] }
    ],
    include: [
      `include: /ci/a.yml\na: {tags: [own]}`,
      { name: 'a', script: ['included'], tags: ['own'] },
      { 'ci/a.yml': 'a: {script: included, tags: [included]}' }
    ],
    'nested includes, with patterns; the later file wins': [
      `include: [{local: ci/*.yml}]`,
      { script: ['b'], when: 'always' },
      {
        'ci/1.yml': 'include: deep/c.yaml\na: {when: always}',
        'ci/2.yml': 'a: {script: b}',
        'deep/c.yaml': 'a: {script: c, when: manual}'
      }
    ],
    'variables with descriptions': [
      `variables: {A: {value: 1, description: x}}\na: {${X}}`,
      { variables: [{ key: 'A', value: '1' }] }
    ],
    'allowed exit codes': [
      `a: {${X}, allow_failure: {exit_codes: [1, 137]}}`,
      { allowFailure: false, allowFailureCodes: [1, 137] }
    ],
    'retry by reason': [
      `a: {${X}, retry: {max: 2, when: [script_failure, runner_system_failure], exit_codes: 7}}`,
      { retry: { max: 2, when: ['script_failure', 'runner_system_failure'], exitCodes: [7] } }
    ],
    'caches with all their keys': [
      `a: {${X}, cache: [{key: k, policy: pull, when: always, fallback_keys: [j], unprotect: true}, {key: {files: [f], prefix: p}}]}`,
      {
        caches: [
          {
            ...{ key: 'k', keyFiles: null, untracked: false, paths: [], policy: 'pull', when: 'always' },
            ...{ fallbackKeys: ['j'], unprotect: true }
          },
          { key: 'p', keyFiles: ['f'], unprotect: false } as unknown as CiJob['caches'][number]
        ]
      }
    ],
    'reports and access': [
      `a: {${X}, artifacts: {reports: {dotenv: [a.env, b.env], junit: x}, public: false}}`,
      { artifacts: { dotenv: ['a.env', 'b.env'], access: 'developer', paths: [] } as unknown as CiJob['artifacts'] }
    ],
    'a pipeline of another project': [
      'a: {trigger: {project: g/$P, branch: b, strategy: depend, forward: {yaml_variables: false, pipeline_variables: true}}}',
      {
        script: [],
        trigger: {
          ...{ project: 'g/$P', branch: 'b', include: null, awaited: true, forwardsOwn: false, forwardsGiven: true }
        }
      }
    ],
    'a child pipeline': [
      'a: {trigger: {include: [x.yml, {project: g/p, file: y.yml, ref: v1}]}}',
      {
        trigger: {
          include: [{ local: 'x.yml' }, { project: 'g/p', ref: 'v1', file: ['y.yml'] }],
          ...{ project: null, branch: null, awaited: false, forwardsOwn: true, forwardsGiven: false }
        }
      }
    ],
    'a child pipeline with inputs': [
      'a: {trigger: {include: {component: h/g/p/n@1, inputs: {count: 3, list: [a, {b: true}], text: null, far: 1e999}}}}',
      {
        trigger: {
          include: [
            {
              component: 'h/g/p/n@1',
              inputs: { count: 3, list: ['a', { b: true }], text: null, far: '1e999' }
            }
          ],
          ...{ project: null, branch: null, awaited: false, forwardsOwn: true, forwardsGiven: false }
        }
      }
    ],
    'an environment that ends': [
      `a: {${X}, environment: {name: e, auto_stop_in: 2 days, deployment_tier: staging, action: prepare}}`,
      { environment: { name: 'e', url: null, action: 'prepare', onStop: null, autoStopIn: 172_800, tier: 'staging' } }
    ],
    'variables that are not expanded': [
      `a: {${X}, variables: {A: {value: $B, expand: false}, C: {value: $B, expand: true}}, services: [{name: s, variables: {D: 1}}]}`,
      {
        variables: [
          { key: 'A', value: '$B', raw: true },
          { key: 'C', value: '$B' }
        ],
        services: [{ name: 's', alias: null, entrypoint: null, command: null, variables: [{ key: 'D', value: '1' }] }]
      }
    ],
    delayed: [`a: {${X}, when: delayed, start_in: 30 minutes}`, { when: 'delayed', startIn: 1800 }],
    needs: [
      `b: {${X}}\na: {${X}, needs: [b, {job: c, optional: true, artifacts: false}]}`,
      {
        needs: [
          { job: 'b', artifacts: true, optional: false },
          { job: 'c', artifacts: false, optional: true }
        ]
      }
    ]
  }
  for (const [name, [text, expected, files]] of Object.entries(cases)) {
    t.match(await lastJob(text, files), expected, name)
  }
})

t.test('parallel makes several jobs', async t => {
  const namesOf = (text: string) => parseConfig(text).config?.jobs.map(({ name }) => name)
  t.strictSame(namesOf(`a: {${X}, parallel: 3}`), ['a 1/3', 'a 2/3', 'a 3/3'])
  const { config } = parseConfig(
    `a: {${X}, variables: {OS: own, C: d}, parallel: {matrix: [{OS: [linux, bsd], ARCH: [x64, arm]}, {OS: mac}]}}`
  )
  t.strictSame(
    config?.jobs.map(({ name }) => name),
    ['a: [linux, x64]', 'a: [linux, arm]', 'a: [bsd, x64]', 'a: [bsd, arm]', 'a: [mac]']
  )
  t.match(config?.jobs[1], {
    baseName: 'a',
    parallel: { index: 2, total: 5 },
    variables: [
      { key: 'C', value: 'd' },
      { key: 'OS', value: 'linux' },
      { key: 'ARCH', value: 'arm' }
    ]
  })
})

t.test('each fault names the job and the key', async t => {
  const cases: [text: string, error: string | RegExp, files?: Record<string, string>][] = [
    [`a: {extends: .b, ${X}}\n.c: {${X}}`, 'jobs:a extends `.b`, which is not in the file (did you mean `.c`?)'],
    [`a: {extends: b, ${X}}\nb: {extends: a, ${X}}`, 'jobs:b extends itself: a → b → a'],
    [`a: {extends: 1, ${X}}`, 'jobs:a should extend a name or a list of names'],
    [
      `${Array.from({ length: 13 }, (_, at) => `.j${at}: {extends: .j${at + 1}}`).join('\n')}\n.j13: {${X}}\na: {extends: .j0}`,
      /^jobs:\.j\d+ extends over more than 11 levels$/
    ],
    [`a: {script: [!reference [.b, script]]}`, 'jobs:a !reference [.b, script] is not in the file'],
    [
      `.b: {script: [!reference [.b, script]]}\na: {script: !reference [.b, script]}`,
      'jobs:a !reference [.b, script] refers to itself'
    ],
    [`a: {script: !reference x}`, /^yaml is not valid/],
    [`a: {script: !reference [1]}`, /^yaml has a `!reference` that is not a list of names/],
    [`default: {image: a}\nimage: b\na: {${X}}`, 'default:image is also at the root of the file: keep one of them'],
    [`default: {tag: [a]}\na: {${X}}`, 'default unknown key `tag` (did you mean `tags`?)'],
    [`a: {${X}, inherit: {default: [image, tag]}}`, 'jobs:a:inherit:default `tag` is not known (did you mean `tags`?)'],
    [`a: {${X}, rules: x}`, 'jobs:a:rules should be a list of mappings, not text'],
    [`a: {${X}, rules: [{if: "$A ="}]}`, /^jobs:a:rules:1:if is not understood from `=` on$/],
    [`a: {${X}, rules: [{iff: $A}]}`, 'jobs:a:rules:1 unknown key `iff` (did you mean `if`?)'],
    [`a: {${X}, rules: [{when: soon}]}`, /^jobs:a:rules:1:when should be one of/],
    [`a: {${X}, rules: [{changes: []}]}`, 'jobs:a:rules:1:changes should not be empty'],
    [`a: {${X}, rules: [{when: delayed}]}`, /^jobs:a:rules:1:start_in is missing/],
    [`a: {${X}, rules: [{when: never}], only: [x]}`, 'jobs:a:only cannot be combined with rules'],
    [`a: {${X}, when: delayed, start_in: 2 weeks}`, /^jobs:a:start_in should be a duration .* at most 1 week$/],
    [`a: {${X}, start_in: 1 day}`, 'jobs:a:start_in needs `when: delayed`'],
    [`a: {${X}, needs: [build]}\nbiuld: {${X}}`, 'a job: needs `build`, which is not a job (did you mean `biuld`?)'],
    [`a: {${X}, needs: [a]}`, 'a job: needs itself'],
    [`a: {${X}, needs: [b, b]}\nb: {${X}}`, 'jobs:a:needs name `b` twice'],
    [`a: {${X}, needs: [b]}\nb: {${X}, stage: deploy}`, 'a job: needs `b`, which is in a later stage'],
    [
      `a: {${X}, needs: [b]}\nb: {${X}, needs: [c]}\nc: {${X}, needs: [a]}`,
      'jobs need each other in a circle: a → b → c → a'
    ],
    [`a: {${X}, needs: [b], dependencies: [c]}\nb: {${X}}\nc: {${X}}`, 'a job: dependency `c` is not in its needs'],
    [
      `a: {${X}, needs: [{job: b, parallel: {matrix: [{A: z}]}}]}\nb: {${X}, parallel: {matrix: [{A: [x, y]}]}}`,
      /^a job: needs `b: \[z\]`, which is not a job/
    ],
    [
      `a: {${X}, needs: [{pipeline: x}]}`,
      'jobs:a:needs:1:job is missing: only a job without script and trigger follows a whole pipeline'
    ],
    [`a: {${X}, parallel: 201}`, 'jobs:a:parallel should be a number from 1 to 200'],
    [`a: {${X}, parallel: {matrix: [{A: [1, 1]}]}}`, /^jobs:a:parallel:matrix has the combination: \[1\] twice$/],
    [`a: {${X}, parallel: {matrix: [{A: {b: c}}]}}`, /^jobs:a:parallel:matrix:1:A should be text or a list of text/],
    [`a: {${X}, retry: 3}`, 'jobs:a:retry should be a number from 0 to 2'],
    [`a: {${X}, retry: {when: script_failed}}`, /^jobs:a:retry:when `script_failed` is not known/],
    [`a: {${X}, timeout: soon}`, /^jobs:a:timeout should be a duration/],
    [`a: {${X}, allow_failure: {exit_codes: [x]}}`, /^jobs:a:allow_failure:exit_codes should be numbers/],
    [`workflow: {rule: x}\na: {${X}}`, 'workflow unknown key `rule` (did you mean `rules`?)'],
    [`workflow: {rules: [{when: manual}]}\na: {${X}}`, 'workflow:rules:1:when should be one of always, never'],
    [`include: b.yml\na: {${X}}`, /^include `b\.yml` is not a file of the repository/],
    [`include: ../b.yml\na: {${X}}`, 'include `../b.yml` should not contain `..`'],
    [`include: {component: x}\na: {${X}}`, 'include `x` should be HOST/PROJECT/NAME@VERSION'],
    [`include: {local: b.yml, ref: x}\na: {${X}}`, 'include key `ref` needs `project`'],
    [
      `include: {local: b.yml, template: x}\na: {${X}}`,
      'include should have the path of a file in one of local, template'
    ],
    [`include: {project: g/p}\na: {${X}}`, 'include of project `g/p` should name a file'],
    [
      `include: {project: g/p, file: "*.yml"}\na: {${X}}`,
      /^include `\*\.yml` of another project should be the path of one file$/
    ],
    [`include: "ftp://x/y.yml"\na: {${X}}`, 'include `ftp://x/y.yml` should be an http or https URL'],
    [
      `include: {local: b.yml, rules: [{iff: x}]}\na: {${X}}`,
      'include:1:rules:1 unknown key `iff` (did you mean `if`?)'
    ],
    [
      `a: {${X}, rules: [{exists: {paths: [x], project: y}}]}`,
      'jobs:a:rules:1:exists key `project` is not supported by this service'
    ],
    [
      `a: {${X}, only: {changes: {paths: [x], compare_to: y}}}`,
      'jobs:a:only:changes key `compare_to` is not supported by this service'
    ],
    [
      `workflow: {auto_cancel: {on_job_failure: some}}\na: {${X}}`,
      'workflow:auto_cancel:on_job_failure should be one of all, none'
    ],
    [`a: {${X}, needs: [{project: g/p, job: b}]}`, 'jobs:a:needs:1 should have `project` and `ref` together'],
    [`a: {${X}, needs: [{project: g/p, ref: r, pipeline: 1, job: b}]}`, /^jobs:a:needs:1:pipeline should be text/],
    [`a: {${X}, needs: [{project: g/p, ref: r}]}`, 'jobs:a:needs:1:job is missing'],
    [
      `a: {${X}, needs: [{pipeline: $P, job: b, parallel: {}}]}`,
      'jobs:a:needs:1 key `parallel` is not supported by this service'
    ],
    [
      `a: {${X}, needs: [${Array.from({ length: 6 }, () => '{pipeline: $P, job: b}').join(', ')}]}`,
      'jobs:a:needs of other pipelines are more than 5'
    ],
    [
      'a: {trigger: g/p, needs: [{pipeline: x}]}',
      /^jobs:a:needs:1:job is missing: only a job without script and trigger/
    ],
    ['a: {needs: {pipeline: x}, image: y}', 'jobs:a:image cannot be combined with needs of a whole pipeline'],
    ['a: {needs: [{pipeline: x}, {pipeline: y}]}', 'jobs:a:needs ask for more than one whole pipeline'],
    ['a: {needs: {pipeline: x, optional: true}}', 'jobs:a:needs unknown key `optional`'],
    ['a: {needs: {pipeline: 7}}', /^jobs:a:needs:pipeline should be text, not a number/],
    [
      'a: {needs: {pipeline: x}, when: delayed, start_in: 1 minute}',
      /^jobs:a:start_in cannot be combined|^jobs:a:needs of a whole pipeline/
    ],
    [`a: {${X}, needs: {project: x}}`, 'jobs:a:needs should be a list of jobs, not a mapping'],
    ['a: {trigger: g/p, needs: [{pipeline: $P, job: b}]}', 'jobs:a:needs of other pipelines need a script'],
    [
      `a: {${X}, rules: [{needs: [{pipeline: $P, job: b}]}]}`,
      'jobs:a:rules:1:needs:1 key `pipeline` is not supported by this service'
    ],
    [
      `a: {${X}, secrets: {PASSWORD: {vault: x}}}`,
      'jobs:a key `secrets` is not supported by this service: keep the value in a variable of the project, or let the script fetch it from your store with a token of `id_tokens`'
    ],
    [`a: {${X}, id_tokens: [A]}`, 'jobs:a:id_tokens should be a mapping, not a list'],
    [`a: {${X}, id_tokens: {A: x}}`, 'jobs:a:id_tokens:A should be a mapping with `aud`, not text'],
    [`a: {${X}, id_tokens: {A: {}}}`, 'jobs:a:id_tokens:A:aud is missing: name the service that the token is for'],
    [`a: {${X}, id_tokens: {A: {aud: []}}}`, 'jobs:a:id_tokens:A:aud should not be empty'],
    [`a: {${X}, id_tokens: {A: {aud: [x, ""]}}}`, 'jobs:a:id_tokens:A:aud `` should not be empty'],
    [`a: {${X}, id_tokens: {A: {aud: x, sub: y}}}`, 'jobs:a:id_tokens:A unknown key `sub`'],
    [`a: {${X}, id_tokens: {A-B: {aud: x}}}`, /^jobs:a:id_tokens:A-B has a name that is not made of letters/],
    [`a: {${X}, id_tokens: {A: {aud: [${Array.from({ length: 11 }, (_, at) => `a${at}`)}]}}}`, /aud are more than 10$/],
    [
      `a: {${X}, id_tokens: {${Array.from({ length: 21 }, (_, at) => `A${at}: {aud: x}`)}}}`,
      /id_tokens are more than 20$/
    ],
    ['a: {trigger: g/p, id_tokens: {A: {aud: x}}}', 'jobs:a:id_tokens cannot be combined with trigger'],
    [`include: b.yml\na: {${X}}`, 'include `b.yml` includes itself: b.yml → b.yml', { 'b.yml': 'include: b.yml' }],
    [`include: b.yml\na: {${X}}`, /^include:b\.yml yaml is not valid/, { 'b.yml': 'a: [' }]
  ]
  for (const [text, error, files] of cases) {
    const { config, errors } = await readConfig(text, filesOf(files ?? {}))
    t.equal(config, null, text)
    if (typeof error === 'string') t.equal(errors[0], error)
    else t.match(errors[0], error, text)
  }
})

t.test('a key without an effect is a warning', async t => {
  const { config, warnings } = parseConfig(`a: {${X}, release: {tag_name: x}}`)
  t.equal(config?.jobs.length, 1)
  t.strictSame(warnings, ['jobs:a key `release` has no effect here'])
})

t.test('files from other sources', async t => {
  const other: CiFiles = {
    ...filesOf({ 'x.yml': 'include: y.yml', 'y.yml': `y: {${X}}`, 'loop.yml': 'include: loop.yml' }),
    name: 'g/p:'
  }
  const files: CiFiles = {
    ...filesOf({ 'a.yml': `a: {${X}}` }),
    project: async (path, ref) => (path === 'g/p' && ref !== 'none' ? other : { problem: 'is not there' }),
    remote: async url => (url.endsWith('far.yml') ? { text: `far: {${X}}` } : { problem: 'is away' }),
    template: name => (name === 'T' ? `t: {${X}}` : name === 'L' ? 'include: a.yml' : null),
    allows: async rules => rules[0]?.if !== null
  }
  const cases: Record<string, readonly string[] | RegExp> = {
    '{project: g/p, file: x.yml}': ['y', 'own'],
    '{project: g/p, file: [y.yml]}': ['y', 'own'],
    '{project: g/p, ref: none, file: x.yml}': /^include `g\/p:x\.yml` is not there$/,
    '{project: g/p, file: z.yml}': /^include `g\/p:z\.yml` is not a file of the repository/,
    '{project: g/p, file: loop.yml}': /^include `g\/p:loop\.yml` includes itself: g\/p:loop\.yml → g\/p:loop\.yml$/,
    '[{remote: "https://h/far.yml"}, {template: T}, a.yml]': ['far', 't', 'a', 'own'],
    '"https://h/near.yml"': /^include `https:\/\/h\/near\.yml` is away$/,
    '{template: none}': /^include `none` is not a template$/,
    '{template: L}': /^include `a\.yml` is not a file of the repository/,
    '[{local: a.yml, rules: [{if: $X}]}, {local: gone.yml, rules: [{exists: [x]}]}]': ['a', 'own']
  }
  for (const [include, expected] of Object.entries(cases)) {
    const { config, errors } = await readConfig(`include: ${include}\nown: {${X}}`, files)
    if (expected instanceof RegExp) t.match(errors[0], expected, include)
    else t.strictSame(config?.jobs.map(({ name }) => name) ?? errors, expected, include)
  }
  const many = Array.from({ length: 11 }, () => '"https://h/far.yml"').join(', ')
  t.match((await readConfig(`include: [${many}]\nown: {${X}}`, files)).errors, [/is one of more than 10 URLs$/])
  t.match(await readConfig(`include: [{template: T}, {project: g/p, file: x.yml}]\nown: {${X}}`, filesOf({})), {
    errors: [],
    warnings: ['include `T` is not looked at here', 'include `g/p:x.yml` is not looked at here']
  })
})

t.test('conditions', async t => {
  const variables = new Map(
    Object.entries({ A: 'a', EMPTY: '', NAME: '$A-b', RE: '/^A$/i', LONG: `${'a'.repeat(20_000)}!`, REF: 'v1.2' })
  )
  const cases: Record<string, boolean> = {
    $A: true,
    $EMPTY: false,
    $NONE: false,
    '"x"': true,
    '$A == "a"': true,
    "$A != 'a'": false,
    '${A} == "a"': true,
    '$NONE == null': true,
    '$EMPTY == null': false,
    '$EMPTY == ""': true,
    '$NAME == "a-b"': true,
    '$A =~ /A/i': true,
    '$A !~ /A/': true,
    '$A =~ $RE': true,
    '$A =~ $A': false,
    '$NONE =~ /./': false,
    '$NONE !~ /./': true,
    '$REF =~ /^v\\d+\\.\\d+$/ && $A': true,
    '$NONE || $A && $EMPTY': false,
    '($NONE || $A) && $A': true,
    '$LONG =~ /^(a+)+$/': true
  }
  for (const [text, expected] of Object.entries(cases)) {
    const { expression, problem } = readExpression(text)
    t.equal(problem, null, text)
    const rule = { ...NO_RULE, if: expression }
    const found = ruleJudge({ changed: [], files: [] }).choose([rule], variables)
    t.equal(found !== undefined, expected, text)
  }
  const wrong = [
    '',
    '$A ==',
    '($A',
    '$A)',
    '== $A',
    '/a/',
    '$A == /a/',
    '$A =~ "a"',
    '$A $B',
    '$A =~ /(/',
    '$A =~ /a/m'
  ]
  for (const text of [...wrong, '('.repeat(500), `${'('.repeat(30)}$A${')'.repeat(30)}`]) {
    t.not(readExpression(text).problem, null, text.slice(0, 40))
  }
})

const NO_RULE = {
  if: null,
  changes: null,
  compareTo: null,
  exists: null,
  when: null,
  startIn: null,
  allowFailure: null,
  variables: [],
  needs: null,
  interruptible: null
}

const context: PlanContext = {
  ref: 'master',
  tag: false,
  source: 'push',
  projectPath: 'group/project',
  commitMessage: 'Change',
  honourSkip: true,
  predefined: [
    { key: 'CI_COMMIT_BRANCH', value: 'master' },
    { key: 'LEVEL', value: 'low' }
  ],
  stronger: [{ key: 'SECRET', value: 'project' }],
  facts: {
    changed: ['docs/a.md', 'src/b.ts'],
    files: ['docs/a.md', 'src/b.ts', 'Dockerfile'],
    changedSince: new Map([['main', ['lib/c']]])
  }
}

function planOf(text: string, over: Partial<PlanContext> = {}) {
  const { config, errors } = parseConfig(text)
  if (!config) throw new Error(errors.join('; '))
  return planPipeline(config, { ...context, ...over })
}

t.test('rules choose jobs', async t => {
  const cases: Record<string, [rules: string, expected: Partial<PlannedBuild> | null]> = {
    'the first rule that holds decides': [
      '[{if: $NONE, when: manual}, {if: $SECRET, when: always, allow_failure: true}, {when: never}]',
      { when: 'always', allowFailure: true }
    ],
    never: ['[{if: $CI_COMMIT_BRANCH, when: never}, {when: always}]', null],
    'none holds': ['[{if: $NONE}]', null],
    'an entry without a condition holds': ['[{}]', { when: 'on_success' }],
    changes: ['[{changes: [docs/**/*]}]', {}],
    'changes elsewhere': ['[{changes: {paths: [lib/**/*, "*.ts"]}}]', null],
    'changes and a condition': ['[{changes: [docs/*], if: $NONE}]', null],
    exists: ['[{exists: [Dockerfile]}]', {}],
    'exists by pattern': ['[{exists: ["**/*.{js,ts}"]}]', {}],
    'nothing exists': ['[{exists: ["*.ts"]}]', null],
    'changes since a branch': ['[{changes: {paths: [lib/*], compare_to: main}}]', {}],
    'no changes since a branch': ['[{changes: {paths: [docs/*], compare_to: main}}]', null],
    variables: ['[{if: $SECRET, variables: {LEVEL: high}}]', { variables: [{ key: 'LEVEL', value: 'high' }] }],
    interruptible: ['[{interruptible: true}]', { interruptible: true }],
    delayed: ['[{when: delayed, start_in: 5 minutes}]', { when: 'delayed', startIn: 300 }]
  }
  for (const [name, [rules, expected]] of Object.entries(cases)) {
    const plan = planOf(`a: {${X}, rules: ${rules}}`)
    if (expected === null) t.equal(plan.kind, 'empty', name)
    else if (plan.kind === 'builds') t.match(plan.builds[0], expected, name)
    else t.fail(`${name}: ${plan.kind}`)
  }
  const all = { changed: null, files: [] }
  t.equal(planOf(`a: {${X}, rules: [{changes: [none]}]}`, { facts: all }).kind, 'builds', 'nothing to compare with')
})

t.test('only and except have conditions, too', async t => {
  const master = { ref: 'master', facts: { changed: ['src/a.c'], files: [] } }
  const predefined = [{ key: 'MODE', value: 'night' }]
  const isPlanned = (keys: string) => planOf(`a: {${X}, ${keys}}`, { ...master, predefined }).kind === 'builds'
  const cases: readonly [string, boolean][] = [
    ['only: {refs: [master]}', true],
    ['only: {refs: [tags]}', false],
    ['only: {variables: [$NONE, $MODE == "night"]}', true],
    ['only: {variables: [$NONE]}', false],
    ['only: {changes: ["src/**"]}', true],
    ['only: {changes: [doc/*]}', false],
    ['only: {refs: [master], variables: [$MODE], changes: [src/a.c]}', true],
    ['only: {refs: [master], variables: [$MODE], changes: [doc/*]}', false],
    ['only: {refs: [tags], variables: [$MODE]}', false],
    ['except: {variables: [$MODE]}', false],
    ['except: {variables: [$NONE], changes: [doc/*]}', true],
    ['except: {variables: [$NONE], changes: ["src/*"]}', false],
    ['except: {refs: [master], variables: [$NONE]}', false],
    ['only: [master], except: {changes: [doc/*]}', true]
  ]
  for (const [keys, planned] of cases) t.equal(isPlanned(keys), planned, keys)
})

t.test('the workflow decides whether there is a pipeline', async t => {
  const job = `a: {${X}, variables: {OWN: job}}`
  t.equal(planOf(`workflow: {rules: [{if: $CI_COMMIT_TAG}]}\n${job}`).kind, 'empty')
  t.equal(planOf(`workflow: {rules: [{if: $CI_COMMIT_BRANCH, when: never}, {when: always}]}\n${job}`).kind, 'empty')
  const plan = planOf(
    `variables: {A: global, OWN: global}\nworkflow: {rules: [{if: $CI_COMMIT_BRANCH, variables: {A: flow, OWN: flow}}]}\n${job}`
  )
  t.match(plan, {
    builds: [
      {
        variables: [
          { key: 'A', value: 'flow' },
          { key: 'OWN', value: 'job' }
        ]
      }
    ]
  })
  t.equal(planOf(`a: {${X}, stage: .pre}`).kind, 'empty', 'only the outer stages make no pipeline')
  t.match(planOf(`z: {${X}, stage: .post}\na: {${X}}\nb: {${X}, stage: .pre}`), {
    stages: ['.pre', 'build', 'test', 'deploy', '.post'],
    builds: [{ name: 'b' }, { name: 'a' }, { name: 'z' }]
  })
})

t.test('a pipeline has a name', async t => {
  const nameOf = (name: string) => {
    const plan = planOf(`workflow: {name: ${name}}\nvariables: {A: b}\na: {${X}}`)
    return plan.kind === 'builds' ? plan.name : plan.kind
  }
  t.equal(nameOf('"$A of $CI_COMMIT_BRANCH"'), 'b of master')
  t.equal(nameOf('$NONE'), null)
})

t.test('needs and groups are planned', async t => {
  const plan = planOf(`
a: {${X}, stage: build, parallel: 2}
b: {${X}, stage: build, only: [tags]}
c: {${X}, needs: [a, {job: b, optional: true}], resource_group: $CI_COMMIT_BRANCH/$SECRET, tags: [$LEVEL, x]}
d: {${X}, needs: [{job: a, artifacts: false}, c]}
m: {${X}, stage: build, parallel: {matrix: [{OS: [linux, bsd], ARCH: [x64, arm]}]}}
n: {${X}, needs: [{job: m, parallel: {matrix: [{OS: linux, ARCH: [x64, arm]}]}}]}
e: {${X}, stage: deploy, dependencies: [a]}
`)
  if (plan.kind !== 'builds') return t.fail(plan.kind)
  const byName = new Map(plan.builds.map(build => [build.name, build]))
  t.match(byName.get('c'), {
    needs: ['a 1/2', 'a 2/2'],
    options: { dependencies: ['a 1/2', 'a 2/2'] },
    resourceGroup: 'master/project',
    tagList: ['low', 'x']
  })
  t.match(byName.get('d'), { needs: ['a 1/2', 'a 2/2', 'c'], options: { dependencies: ['c'] } })
  t.match(byName.get('n'), { needs: ['m: [linux, x64]', 'm: [linux, arm]'] })
  t.match(byName.get('e'), { needs: null, options: { dependencies: ['a 1/2', 'a 2/2'] } })
  t.match(planOf(`b: {${X}, only: [tags]}\nc: {${X}, needs: [b]}`), {
    kind: 'refused',
    errors: ['c job: needs `b`, which is not in this pipeline']
  })
  t.match(planOf(`a: {${X}, rules: [{needs: [b]}]}\nb: {${X}, rules: [{needs: [a]}]}`), {
    kind: 'refused',
    errors: ['jobs need each other in a circle: a → b → a']
  })
})

t.test('reports of variables', async t => {
  const cases: Record<string, readonly [text: string, expected: Record<string, string> | RegExp]> = {
    lines: ['A=1\nB = two words \r\nA=3\n', { B: 'two words', A: '3' }],
    'an equals sign in the value, quotes, nothing': ['A=b=c\nQ="x"\nE=', { A: 'b=c', Q: '"x"', E: '' }],
    'empty lines and remarks': ['\n# A=1\n  \nB=2', { B: '2' }],
    'no equals sign': ['A=1\nB', /^line 2 \(`B`\) should be NAME=value$/],
    'a name of other characters': ['A-B=1', /^line 1 \(`A-B`\) has a name that is not made of letters/],
    'a zero byte': ['A=\0', /^is not text in UTF-8$/],
    'too many': [Array.from({ length: 151 }, (_, at) => `A${at}=1`).join('\n'), /^has more than 150 variables$/],
    'too large': [`A=${'x'.repeat(16_384)}`, /^is larger than 16384 bytes$/]
  }
  for (const [name, [text, expected]] of Object.entries(cases)) {
    const { variables, problem } = parseDotenv(Buffer.from(text))
    if (expected instanceof RegExp) t.match(problem, expected, name)
    else t.same(Object.fromEntries((variables ?? []).map(({ key, value }) => [key, value])), expected, name)
  }
  t.match(parseDotenv(Buffer.from([0x41, 0x3d, 0xff])), { problem: 'is not text in UTF-8' })
})

t.test('the content of files determines the key of a cache', async t => {
  const text = `a: {${X}, cache: [{key: {files: [x, y], prefix: p}}, {key: {files: [x]}}, {key: {files: [none]}}, {key: k}]}`
  const keysOf = (ids: Record<string, string>) => {
    const plan = planOf(text, { fileIds: new Map(Object.entries(ids)) })
    return plan.kind === 'builds' ? plan.builds[0]?.options.caches.map(({ key }) => key) : []
  }
  const [first, second, third, fourth] = keysOf({ x: '1', y: '2' }) ?? []
  t.match(first, /^p-[0-9a-f]{40}$/)
  t.match(second, /^[0-9a-f]{40}$/)
  t.equal(third, 'default')
  t.equal(fourth, 'k')
  t.same(keysOf({ x: '1', y: '2' })?.[0], first, 'the same for the same content')
  t.not(keysOf({ x: '1', y: '3' })?.[0], first)
})

t.test('retriesAgain', async t => {
  const failure = { reason: 'script_failure', exitCode: 3 }
  const retry = (over: object) => ({ max: 2, when: [], exitCodes: [], ...over })
  t.ok(retriesAgain(retry({}), failure, 1))
  t.ok(retriesAgain(retry({}), failure, 2))
  t.notOk(retriesAgain(retry({}), failure, 3))
  t.notOk(retriesAgain(retry({ when: ['runner_system_failure'] }), failure, 1))
  t.ok(retriesAgain(retry({ when: ['script_failure'] }), failure, 1))
  t.ok(retriesAgain(retry({ when: ['runner_system_failure'], exitCodes: [3] }), failure, 1), 'either list may name it')
  t.notOk(retriesAgain(retry({ exitCodes: [4] }), failure, 1))
})

t.test('files that would cost too much are refused', async t => {
  const many = (count: number, line: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => line(at)).join('\n')
  const bomb = many(
    10,
    at =>
      `.r${at}: [${Array(10)
        .fill(`!reference [.r${at + 1}]`)
        .join(', ')}]`
  )
  const vars = many(2000, at => `    V${at}: x`)
  const cases: Record<string, [text: string, error: RegExp, files?: Record<string, string>]> = {
    'references of references': [`${bomb}\n.r10: [x, x]\na: {script: !reference [.r0]}`, /^config is too large once/],
    'extends of a large job': [
      `.big:\n  script: x\n  variables:\n${vars}\n${many(900, at => `j${at}: {extends: .big, variables: {A: b}}`)}`,
      /^(config is|jobs are) too large/
    ],
    'parallel jobs': [many(10, at => `j${at}: {${X}, parallel: 150}`), /^jobs are more than 1000, with those that/],
    'a large matrix': [
      `a: {${X}, parallel: {matrix: [{${'ABCDEFGH'.split('').map(name => `${name}: [1, 2, 3, 4]`)}}]}}`,
      /^jobs:a:parallel makes more than 200 jobs$/
    ],
    'needs of all': [
      `${many(21, at => `n${at}: {${X}, needs: [p0, p1, p2, p3, p4]}`)}\n${many(5, at => `p${at}: {${X}, stage: build, parallel: 200}`)}`,
      /^jobs (have 21000 needs together, more than 20000|are more than 1000)/
    ],
    'many files': [
      `include: "*.yml"\na: {${X}}`,
      /^include names more than 150 files$/,
      Object.fromEntries(Array.from({ length: 151 }, (_, at) => [`${at}.yml`, 'b: {script: x}']))
    ],
    'large files': [
      `include: [a.yml, b.yml]\na: {${X}}`,
      /^include takes more than 1048576 bytes of files$/,
      { 'a.yml': `# ${'x'.repeat(600_000)}\nb: {script: x}`, 'b.yml': `# ${'x'.repeat(600_000)}\nb: {script: x}` }
    ]
  }
  for (const [name, [text, error, files]] of Object.entries(cases)) {
    t.match((await readConfig(text, filesOf(files ?? {}))).errors[0], error, name)
  }
  const slow = many(100, at => `j${at}: {${X}, rules: [{if: '$LONG =~ /(a|a|a|a)*(a|a|a)*(a|a|${at})*c/'}]}`)
  const costly = planOf(slow, { predefined: [{ key: 'LONG', value: 'a'.repeat(10_000) }] })
  t.match(costly, { kind: 'refused', errors: [/^jobs the rules take too long to evaluate/] })
  const paths = Array.from({ length: 20_000 }, (_, at) => `src/${'deep/'.repeat(10)}${at}.ts`)
  const globs = many(100, at => `j${at}: {${X}, rules: [{exists: ["**/*${at}*/**/*x*y*"]}]}`)
  t.match(planOf(globs, { facts: { changed: [], files: paths } }), { kind: 'refused' })
})

t.test('a thousand jobs that need each other are planned', async t => {
  const jobs = Array.from({ length: 1000 }, (_, at) => {
    const rules = "rules: [{if: '$CI_COMMIT_BRANCH =~ /^ma/'}]"
    return `j${at}: {${X}, ${rules}${at === 0 ? '' : `, needs: [j${at - 1}]`}}`
  })
  const plan = planOf(jobs.join('\n'))
  t.equal(plan.kind === 'builds' && plan.builds.length, 1000)
})

t.test('inputs of a file', async t => {
  const header = `# a component
spec:
  inputs:
    job: {description: its name}
    count: {type: number, default: 3}
    fast: {type: boolean, default: false}
    tags: {type: array, default: [a, b]}
    level: {default: low, options: [low, high]}
    version: {default: v1, regex: "^v[0-9]+$"}
    none: {default: ''}
---
`
  const body = `$[[ inputs.job ]]-job:
  script: ["echo $[[inputs.level]] $[[ inputs.version ]] $[[ inputs.none ]]."]
  parallel: $[[ inputs.count ]]
  interruptible: $[[ inputs.fast ]]
  tags: $[[ inputs.tags ]]
`
  const cases: [inputs: string, expected: object | string[], body?: string][] = [
    ['{job: x}', { name: 'x-job 1/3', script: ['echo low v1 .'], interruptible: false, tags: ['a', 'b'] }],
    [
      '{job: x, count: 2, fast: true, tags: [c], level: high, version: v22, none: "$[[ inputs.job ]]"}',
      { name: 'x-job 1/2', script: ['echo high v22 $[[ inputs.job ]].'], interruptible: true, tags: ['c'] }
    ],
    ['{}', ['include:x.yml inputs:job is missing']],
    ['{job: x, jop: y}', ['include:x.yml inputs has no `jop`']],
    ['{job: 1}', ['include:x.yml inputs:job should be of the type string, not a number']],
    ['{job: x, tags: y}', ['include:x.yml inputs:tags should be of the type array, not text']],
    ['{job: x, level: mid}', ['include:x.yml inputs:level should be one of low, high']],
    ['{job: x, version: 1.0}', ['include:x.yml inputs:version should be of the type string, not a number']],
    ['{job: x, version: v1.0}', ['include:x.yml inputs:version does not match its `regex`']],
    ['{job: x}', ['include:x.yml inputs has no `other`'], 'a: {script: "$[[ inputs.other ]]"}'],
    [
      '{job: x}',
      ['include:x.yml inputs: functions such as `inputs.job | expand_vars` are not supported by this service'],
      'a: {script: "$[[ inputs.job | expand_vars ]]"}'
    ],
    ['{job: x}', ['include:x.yml inputs: `env.X` should be `inputs.NAME`'], 'a: {script: "$[[ env.X ]]"}'],
    ['{job: x}', ['include:x.yml inputs within a text cannot be a list'], 'a: {script: "x $[[ inputs.tags ]]"}'],
    ['{job: x}', ['include:x.yml inputs in a key should be text'], '$[[ inputs.tags ]]: {script: x}'],
    ['{job: x}', ['include:x.yml yaml should contain one document'], 'a: 1\n---\nb: 2'],
    [
      `{job: "${'x'.repeat(200_000)}"}`,
      ['include:x.yml inputs make the file too large'],
      `a: {script: "${'$[[ inputs.job ]]'.repeat(40)}"}`
    ]
  ]
  for (const [inputs, expected, text = body] of cases) {
    const files = filesOf({ 'x.yml': header + text })
    const { config, errors } = await readConfig(`include: [{local: x.yml, inputs: ${inputs}}]\nown: {${X}}`, files)
    if (Array.isArray(expected)) t.same(errors, expected, inputs.slice(0, 100))
    else t.match(config?.jobs[0], expected, inputs)
  }
  const headers: [string, RegExp][] = [
    ['spec: {inputs: {a: {type: date}}}', /^spec:inputs:a:type should be one of string, number, boolean, array/],
    [
      'spec: {inputs: {a: {type: number, default: x}}}',
      /^spec:inputs:a:default should be of the type number, not text/
    ],
    ['spec: {inputs: {a b: {default: x}}}', /^spec:inputs:a b has a name that is not made of/],
    ['spec: {inputs: {a: {regex: "("}}}', /^spec:inputs:a:regex has a `\(` without its `\)`/],
    ['spec: {inputs: {a: }}', /^inputs:a is missing/],
    ['spec: {component: [name]}', /^spec key `component` is not supported/]
  ]
  for (const [text, expected] of headers) t.match(parseConfig(`${text}\n---\nown: {${X}}`).errors, [expected], text)
  const own = parseConfig(
    'spec: {inputs: {stage: {default: deploy}}}\n---\nown: {script: x, stage: $[[ inputs.stage ]]}'
  )
  t.match(own.errors, [/^yaml is not valid.* \(line 3, /s], 'in a flow mapping, an input needs quotes')
  t.same(
    (await readConfig(`include: [{local: x.yml, inputs: {a: 1}}]\nown: {${X}}`, filesOf({ 'x.yml': 'a: {script: x}' })))
      .errors,
    ['include:x.yml inputs are given to a file without `spec: inputs`']
  )
})

t.test('variables in names of files, and components', async t => {
  const values = new Map(Object.entries({ DIR: 'ci', FILE: 'a.yml', SECRET: 'hush', HOST: 'git.example.com' }))
  const files: CiFiles = {
    ...filesOf({ 'ci/a.yml': `a: {${X}}`, 'ci/b.yml': `b: {${X}}` }),
    hosts: ['git.example.com:8080', 'git.example.com'],
    values: async () => values,
    remote: async url => ({ problem: `cannot reach ${url}` }),
    project: async (path, ref) =>
      path === 'g/p' && ref === 'v1'
        ? filesOf({ 'templates/one.yml': `one: {${X}}`, 'templates/two/template.yml': `two: {${X}}` })
        : { problem: 'is not in a project' },
    latest: async path =>
      path === 'g/p' ? filesOf({ 'templates/one.yml': `newest: {${X}}` }) : { problem: 'has no version' }
  }
  const cases: [include: string, expected: string | RegExp][] = [
    ['$DIR/$FILE', 'a own'],
    ['{local: "$DIR/*.yml"}', 'a b own'],
    ['{project: g/p, ref: v1, file: "templates/$NONE.yml"}', /`g\/p:templates\/\$NONE\.yml` could not be read/],
    ['$SECRET.yml', /^include `\$SECRET\.yml` could not be read/],
    ['$SECRET', /^include `\$SECRET` should be the path of a \.yml or \.yaml file/],
    ['"https://$SECRET.example.com/x.yml"', /^include `https:\/\/\$SECRET\.example\.com\/x\.yml` could not be read/],
    ['{component: $HOST/g/p/one@v1}', 'one own'],
    ['{component: "git.example.com:8080/g/p/two@v1"}', 'two own'],
    ['{component: git.example.com/g/p/none@v1}', /is neither templates\/none\.yml nor templates\/none\/template\.yml/],
    ['{component: git.example.com/g/other/one@v1}', /is not in a project/],
    ['{component: elsewhere.org/g/p/one@v1}', /is not of this service \(git\.example\.com:8080, git\.example\.com\)/],
    ['{component: git.example.com/g/p/one@~latest}', 'newest own'],
    [
      '{component: git.example.com/g/other/one@~latest}',
      /^include `git\.example\.com\/g\/other\/one@~latest` has no version/
    ],
    ['{component: git.example.com/g/p/one@~newest}', /should name a branch, a tag, a commit or ~latest after @/],
    ['{project: g/p, ref: ~latest, file: templates/one.yml}', /is not in a project/],
    ['{component: one}', /should be HOST\/PROJECT\/NAME@VERSION/]
  ]
  for (const [include, expected] of cases) {
    const { config, errors } = await readConfig(`include: [${include}]\nown: {${X}}`, files)
    if (expected instanceof RegExp) {
      t.match(errors[0], expected, include)
      t.notMatch(errors.join(' '), 'hush')
    } else t.equal(config?.jobs.map(({ name }) => name).join(' '), expected, include)
  }
  t.match(await readConfig(`include: $X.yml\nown: {${X}}`, filesOf({})), {
    errors: [],
    warnings: ['include `$X.yml` is not looked at here']
  })
})
