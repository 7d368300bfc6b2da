import { type CiJob, parseConfig } from '../../src/ci/config.js'
import { lintConfig } from '../../src/ci/lint.js'
import t from '../helpers/tap.js'

const bare: Omit<CiJob, 'name' | 'baseName'> = {
  stage: 'test',
  script: ['make'],
  beforeScript: [],
  afterScript: [],
  image: null,
  services: [],
  variables: [],
  caches: [],
  tags: [],
  allowFailure: false,
  when: 'on_success',
  only: [],
  except: [],
  onlyRule: null,
  exceptRules: [],
  environment: null,
  artifacts: null,
  dependencies: null,
  coverage: null,
  ownVariables: [],
  needs: null,
  outerNeeds: [],
  rules: null,
  parallel: null,
  retry: null,
  timeout: null,
  interruptible: false,
  startIn: null,
  resourceGroup: null,
  idTokens: [],
  allowFailureCodes: [],
  trigger: null,
  mirrors: null
}

t.test('a valid file becomes the canonical form', async t => {
  const everything = `
image: "ruby:2.1"
services: [mysql]
types: [ignored]
stages: [compile, check, ship]
before_script: bundle
after_script: [clean]
variables: {LEVEL: 1, SHARED: global}
cache: {key: gems, untracked: yes, paths: [vendor/]}

.hidden: [anything]
.defaults: &defaults
  tags: [linux, fast, linux]
  variables: {FROM: anchor}

compile it:
  <<: *defaults
  stage: compile
  script: |
    make
    make install
  artifacts: {name: "out-$CI_JOB_NAME", paths: [out/], exclude: ["*.o"], untracked: true, when: always, expire_in: 1 week}
check:
  type: check
  script: [make check, "true"]
  before_script: []
  after_script: []
  image: node
  services: []
  cache: {}
  variables: {SHARED: own}
  dependencies: [compile it]
  coverage: '/(\\d+)% covered/'
  allow_failure: true
  only: [master, '/^v\\d+(\\.\\d+)*$/@group/project']
  except: [tags]
ship:
  stage: ship
  script: ./ship
  when: manual
  environment: {name: review/$CI_COMMIT_REF_NAME, url: "https://$CI_ENVIRONMENT_SLUG.example.com", on_stop: sink}
sink:
  stage: ship
  script: ./sink
  environment: {name: review/$CI_COMMIT_REF_NAME, action: stop}
`
  const { config, errors } = parseConfig(everything)
  t.strictSame(errors, [])
  t.strictSame(config?.stages, ['compile', 'check', 'ship'])
  const global = {
    image: 'ruby:2.1',
    services: ['mysql'],
    beforeScript: ['bundle'],
    afterScript: ['clean'],
    caches: [
      {
        ...{ key: 'gems', keyFiles: null, untracked: true, paths: ['vendor/'] },
        ...{ policy: 'pull-push', when: 'on_success', fallbackKeys: [], unprotect: false }
      } as const
    ],
    variables: [
      { key: 'LEVEL', value: '1' },
      { key: 'SHARED', value: 'global' }
    ]
  }
  const name = 'review/$CI_COMMIT_REF_NAME'
  t.strictSame(config?.jobs, [
    {
      ...bare,
      ...global,
      name: 'compile it',
      baseName: 'compile it',
      stage: 'compile',
      script: ['make\nmake install\n'],
      tags: ['linux', 'fast'],
      variables: [...global.variables, { key: 'FROM', value: 'anchor' }],
      ownVariables: ['FROM'],
      artifacts: {
        name: 'out-$CI_JOB_NAME',
        paths: ['out/'],
        exclude: ['*.o'],
        untracked: true,
        when: 'always',
        expireIn: 604800,
        expiry: '1 week',
        dotenv: [],
        access: 'all'
      }
    },
    {
      ...bare,
      name: 'check',
      baseName: 'check',
      stage: 'check',
      script: ['make check', 'true'],
      image: 'node',
      variables: [
        { key: 'LEVEL', value: '1' },
        { key: 'SHARED', value: 'own' }
      ],
      ownVariables: ['SHARED'],
      dependencies: ['compile it'],
      coverage: '(\\d+)% covered',
      allowFailure: true,
      only: ['master', '/^v\\d+(\\.\\d+)*$/@group/project'],
      except: ['tags']
    },
    {
      ...bare,
      ...global,
      name: 'ship',
      baseName: 'ship',
      stage: 'ship',
      script: ['./ship'],
      when: 'manual',
      environment: {
        name,
        url: 'https://$CI_ENVIRONMENT_SLUG.example.com',
        action: 'start',
        onStop: 'sink',
        autoStopIn: null,
        tier: null
      }
    },
    {
      ...bare,
      ...global,
      name: 'sink',
      baseName: 'sink',
      stage: 'ship',
      script: ['./sink'],
      environment: { name, url: null, action: 'stop', onStop: null, autoStopIn: null, tier: null }
    }
  ])
  t.strictSame(JSON.parse(JSON.stringify(config)), config, 'the form survives JSON')
})

t.test('scalars of YAML 1.1 become the texts that people expect', async t => {
  const { config } = parseConfig(
    'a: {script: make, allow_failure: on, variables: {A: 1.10, B: yes, C: 010, D: 2017-01-02, E: 12:30, F: y, G: , 1: x}}'
  )
  t.equal(config?.jobs[0]?.allowFailure, true)
  t.strictSame(
    config?.jobs[0]?.variables.map(({ key, value }) => `${key}=${value}`),
    ['A=1.10', 'B=true', 'C=010', 'D=2017-01-02', 'E=12:30', 'F=y', 'G=', '1=x']
  )
})

t.test('unusual files are valid', async t => {
  const cases: Record<string, [text: string, expected: Partial<CiJob>]> = {
    'byte order mark': ['\ufeffa: {script: make}', { name: 'a' }],
    'unicode names': ['构建 🚀:\n  script: make\n  tags: [ß]', { name: '构建 🚀', tags: ['ß'] }],
    'a quoted number as a name': ['"1": {script: make}', { name: '1' }],
    'a job named like an object member': ['__proto__: {script: make}', { name: '__proto__' }],
    'a job named like a later key': ['default: {script: make}', { name: 'default' }],
    'empty keys are absent ones': ['image: x\na: {script: make, image: , tags: }', { image: 'x', tags: [] }],
    'a merge list, of which the earlier wins': [
      '.x: &x {when: always}\n.y: &y {when: manual, tags: [y]}\na: {<<: [*x, *y], script: make}',
      { when: 'always', tags: ['y'] }
    ],
    'an own key before the merge wins': [
      '.x: &x {when: always}\na: {when: manual, <<: *x, script: make}',
      { when: 'manual' }
    ],
    'variables switched off with a list': ['a: {script: make, variables: []}', { variables: [] }],
    'artifacts that never expire': ['a: {script: make, artifacts: {paths: [x], expire_in: never}}', {}],
    'no artifacts from earlier stages': ['a: {script: make, dependencies: []}', { dependencies: [] }],
    'environment as text': [
      'a: {script: make, environment: prod}',
      { environment: { name: 'prod', url: null, action: 'start', onStop: null, autoStopIn: null, tier: null } }
    ]
  }
  for (const [name, [text, expected]] of Object.entries(cases)) {
    const { config, errors } = parseConfig(text)
    t.strictSame(errors, [], name)
    t.match(config?.jobs.at(-1), expected, name)
  }
})

t.test('each error has its path and a short problem', async t => {
  const cases: [text: string, errors: string[]][] = [
    ['', ['config is empty']],
    ['# only a comment\n', ['config is empty']],
    ['- a', ['config should be a mapping of keys to values']],
    ['text', ['config should be a mapping of keys to values']],
    ['image: x', ['jobs should contain at least one visible job']],
    ['.hidden: {script: x}', ['jobs should contain at least one visible job']],
    ['.hidden:\na: {script: x}', ['.hidden should not be empty']],
    ['a: {script: x, scirpt: y}', ['jobs:a unknown key `scirpt` (did you mean `script`?)']],
    ['a: {script: x, xyzzy: y}', ['jobs:a unknown key `xyzzy`']],
    ['a: {script: x, trigger: g/p}', ['jobs:a:script cannot be combined with trigger']],
    ['a: {trigger: {}}', ['jobs:a:trigger should have either a project or files in `include`']],
    [
      'a: {trigger: {project: g/p, include: x.yml}}',
      ['jobs:a:trigger should have either a project or files in `include`']
    ],
    ['a: {trigger: {include: x.yml, branch: b}}', ['jobs:a:trigger:branch needs a project']],
    [
      'a: {trigger: {include: [{artifact: x}], strategy: soon}}',
      [
        'jobs:a:trigger:include:1 key `artifact` is not supported by this service',
        'jobs:a:trigger:strategy should be one of depend, mirror'
      ]
    ],
    [
      'a: {trigger: g/p, rules: [{when: delayed, start_in: 1 hour}]}',
      ['jobs:a:trigger cannot be combined with `when: delayed`']
    ],
    ['spec: x\na: {script: x}', ['spec is in a separate document, before a line `---`']],
    ['include: x\na: {script: x}', ['include can be read only together with the repository']],
    [
      'befor_script: [x]\na: {script: x}',
      ['jobs:befor_script should be a mapping with a script (did you mean `before_script`?)']
    ],
    ['a:', ['jobs:a should be a mapping with a script']],
    ['a: {}', ['jobs:a should be a mapping with a script']],
    ['a: [x]', ['jobs:a should be a mapping with a script']],
    ['1: {script: x}', ['jobs:1 has a name that is a number: put it in quotes']],
    ['on: {script: x}', ['jobs:true has a name that is a boolean: put it in quotes']],
    ['"": {script: x}', ['jobs: has a name that should not be empty']],
    ['a: {stage: test}', ['jobs:a:script is missing']],
    ['a: {script: []}', ['jobs:a:script is empty']],
    ['a: {script: " "}', ['jobs:a:script is empty']],
    [
      'a: {script: [x, true]}',
      ['jobs:a:script should be text or a list of text (entry 2 is a boolean: put it in quotes)']
    ],
    [
      'a: {script: [echo a: b]}',
      ['jobs:a:script should be text or a list of text (entry 1 is a mapping; text that contains `: ` needs quotes)']
    ],
    ['a: {script: x, stage: nope}', ['a job: unknown stage `nope` (the stages are build, test, deploy)']],
    ['stages: [b]\na: {script: x}', ['a job: unknown stage `test` (the stages are b)']],
    ['stages: []\na: {script: x, stage: s}', ['stages should not be empty']],
    ['stages: x\na: {script: x, stage: s}', ['stages should be a list of text, not text']],
    ['image: [x]\na: {script: x}', ['image should be text, not a list']],
    ['image: {entrypoint: [x]}\na: {script: x}', ['image:name is missing']],
    ['a: {script: x, services: [{name: y, port: 1}]}', ['jobs:a:services:1 unknown key `port`']],
    [
      'a: {script: x, services: [y, {name: z, command: z}]}',
      ['jobs:a:services:2:command should be a list of text, not text']
    ],
    [
      'a: {script: x, services: [{name: y}, 1]}',
      ['jobs:a:services should be a list of text (entry 1 is a number: put it in quotes)']
    ],
    ['a: {script: x, only: {kubernetes: active}}', ['jobs:a:only key `kubernetes` is not supported by this service']],
    ['a: {script: x, only: {refs: ["/(/"]}}', ['jobs:a:only:refs `/(/` has a `(` without its `)`']],
    [
      'a: {script: x, except: {variables: ["$A =="], changes: []}}',
      ['jobs:a:except:variables ends too early', 'jobs:a:except:changes should not be empty']
    ],
    ['a: {script: x, when: later}', ['jobs:a:when should be one of on_success, on_failure, always, manual, delayed']],
    ['a: {script: x, allow_failure: 1}', ['jobs:a:allow_failure should be true or false, not a number']],
    ['a: {script: x, only: master}', ['jobs:a:only should be a list of text, not text']],
    ['a: {script: x, except: ["/(/"]}', ['jobs:a:except `/(/` has a `(` without its `)`']],
    ['a: {script: x, coverage: x}', ['jobs:a:coverage should be a regular expression between slashes']],
    ['a: {script: x, coverage: /+/}', ['jobs:a:coverage has a `+` with nothing to repeat']],
    [
      'a: {script: x, variables: {A-B: 1}}',
      ['jobs:a:variables:A-B has a name that is not made of letters, digits and _']
    ],
    [`a: {script: x, variables: {A: ${'é'.repeat(50_001)}}}`, ['jobs:a:variables:A is longer than 100000 bytes']],
    ['variables: {A: [1]}\na: {script: x}', ['variables:A should be text, a number or a boolean, not a list']],
    [
      'a: {script: x, cache: [{key: {files: [a, b, c], prefix: x}}, {paths: x}, y]}',
      [
        'jobs:a:cache:1:key:files are more than 2',
        'jobs:a:cache:2:paths should be a list of text, not text',
        'jobs:a:cache:3 should be a mapping, not text'
      ]
    ],
    [
      'a: {script: x, cache: {key: {files: [../x, "*.lock"]}}}',
      [
        'jobs:a:cache:key:files `../x` should be the path of a file of the repository',
        'jobs:a:cache:key:files `*.lock` should be the path of one file, not a pattern'
      ]
    ],
    ['a: {script: x, cache: [{}, {}, {}, {}, {}]}', ['jobs:a:cache are more than 4']],
    [
      'a: {script: x, environment: {name: e, auto_stop_in: soon, deployment_tier: prod}}',
      [
        'jobs:a:environment:auto_stop_in should be a duration such as `3 minutes`, at most 5 years, or `never`',
        'jobs:a:environment:deployment_tier should be one of production, staging, testing, development, other'
      ]
    ],
    [
      'a: {script: x, artifacts: {access: me, reports: {dotenv: /etc/x, junk: x}}}',
      [
        'jobs:a:artifacts:reports unknown key `junk`',
        'jobs:a:artifacts:reports:dotenv `/etc/x` should be relative to the project directory',
        'jobs:a:artifacts:access should be one of all, developer, maintainer, none'
      ]
    ],
    ['a: {script: x, artifacts: {path: [a]}}', ['jobs:a:artifacts unknown key `path` (did you mean `paths`?)']],
    [
      'a: {script: x, artifacts: {paths: [/etc, ../x, a/../../b, ""]}}',
      [
        'jobs:a:artifacts:paths `/etc` should be relative to the project directory',
        'jobs:a:artifacts:paths `../x` should not contain `..`',
        'jobs:a:artifacts:paths `a/../../b` should not contain `..`',
        'jobs:a:artifacts:paths `` should not be empty'
      ]
    ],
    [
      'a: {script: x, artifacts: {paths: [a], expire_in: soon}}',
      ['jobs:a:artifacts:expire_in should be a duration such as `3 days`, or `never`']
    ],
    ['a: {script: x, environment: {url: x}}', ['jobs:a:environment:name is missing']],
    [
      'a: {script: x, environment: "a;b"}',
      ['jobs:a:environment should contain only letters, digits, spaces and - _ / $ { } .']
    ],
    [
      'a: {script: x, dependencies: [b, a]}',
      ['a job: dependency `b` is not a job', 'a job: dependency `a` is not in an earlier stage']
    ],
    ['a: {script: x, environment: {name: e, on_stop: b}}', ['a job: on_stop job `b` is not a job']],
    [
      'a: {script: x, environment: {name: e, on_stop: b}}\nb: {script: x}',
      ['a job: on_stop job `b` has no environment']
    ],
    [
      'a: {script: x, environment: {name: e, on_stop: b}}\nb: {script: x, environment: f}',
      ['a job: on_stop job `b` has another environment']
    ],
    [
      'a: {script: x, environment: {name: e, on_stop: b}}\nb: {script: x, environment: e}',
      ['a job: on_stop job `b` needs `action: stop` in its environment']
    ],
    [
      'image: 1\na: {script: x, tags: y}\nb: {stage: z}',
      [
        'image should be text, not a number: put it in quotes',
        'jobs:a:tags should be a list of text, not text',
        'jobs:b:script is missing'
      ]
    ]
  ]
  for (const [text, errors] of cases) t.strictSame(parseConfig(text), { config: null, errors, warnings: [] }, text)
})

t.test('lintConfig reports whether a file is valid', async t => {
  t.strictSame(lintConfig('a: {script: x}'), { status: 'valid', errors: [], warnings: [] })
  t.strictSame(lintConfig('a: {}'), {
    status: 'invalid',
    errors: ['jobs:a should be a mapping with a script'],
    warnings: []
  })
})
