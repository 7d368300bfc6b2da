// Settings as words of the command line and as a file; and their page in the docs.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defaultSettings, SETTING_NAMES, settingOf } from '../../../../src/areas/ground/settings/settings.table.js'
import { settingsOfWords, settingsOfYaml } from '../../../../src/areas/ground/settings/settings.text.js'
import { typeOf } from '../../../../src/areas/ground/settings/settings.words.js'
import { loadConfig, root } from '../../../../src/config.js'
import t from '../../../helpers/tap.js'

t.before(() => loadConfig({ home: t.testdir() }))

t.test('words', async t => {
  const takes: [string, string, unknown][] = [
    ['default_projects_limit', '0', 0],
    ['signup_enabled', 'off', false],
    ['sign_in_text', 'a=b, c', 'a=b, c'],
    ['sign_in_text', 'null', null],
    ['domain_whitelist', 'a.example, *.b.example', ['a.example', '*.b.example']],
    ['domain_whitelist', '["a.example"]', ['a.example']],
    ['domain_whitelist', 'null', null],
    ['domain_blacklist', '', []],
    ['restricted_visibility_levels', '1,2', [1, 2]],
    ['restricted_visibility_levels', '[0]', [0]],
    ['enabled_git_access_protocol', 'nil', 'nil']
  ]
  for (const [name, word, value] of takes) t.same(settingsOfWords([[name, word]]), { [name]: value }, `${name} ${word}`)
  const refuses: [string, string, string][] = [
    ['nope', '1', 'nope is not a setting: see gitstead settings list'],
    ['constructor', '1', 'constructor is not a setting: see gitstead settings list'],
    [
      'max_attachment_size',
      'many',
      'max_attachment_size is invalid: it must be a whole number from 1 to 1048576 (it is "many")'
    ],
    [
      'max_attachment_size',
      '0',
      'max_attachment_size must be greater than or equal to 1: it must be a whole number from 1 to 1048576 (it is "0")'
    ],
    [
      'max_attachment_size',
      '',
      'max_attachment_size is invalid: it must be a whole number from 1 to 1048576 (it is "")'
    ],
    ['signup_enabled', 'perhaps', 'signup_enabled is invalid: it must be true or false (it is "perhaps")'],
    ['signup_enabled', 'null', 'signup_enabled is invalid: it must be true or false (it is "null")'],
    ['domain_blacklist', '["a', 'domain_blacklist is not JSON: it must be a list of texts (it is "[\\"a")'],
    ['domain_blacklist', '[["a"]]', 'domain_blacklist is invalid: it must be a list of texts (it is "[[\\"a\\"]]")'],
    [
      'restricted_visibility_levels',
      '1,5',
      'restricted_visibility_levels does not have a valid value: it must be a list of 0, 1, 2, or null (it is "1,5")'
    ]
  ]
  for (const [name, word, message] of refuses) {
    t.throws(() => settingsOfWords([[name, word]]), { name: 'BadParameters', message }, `${name} ${word}`)
  }
  const twice = [
    ['max_attachment_size', '5'],
    ['max_attachment_size', '6']
  ] as const
  t.throws(() => settingsOfWords(twice), { message: 'max_attachment_size is given twice' })
})

t.test('a file', async t => {
  const text =
    'sign_in_text: |\n  two\n  lines\ndomain_whitelist: &d [a.example]\ndomain_blacklist: *d\nide_url: null\n'
  t.same(settingsOfYaml(text, 'x'), {
    sign_in_text: 'two\nlines\n',
    domain_whitelist: ['a.example'],
    domain_blacklist: ['a.example'],
    ide_url: null
  })
  t.same(settingsOfYaml('{"max_attachment_size": 5}', 'x'), { max_attachment_size: 5 }, 'JSON is YAML')
  const refuses: [string, string | RegExp][] = [
    ['max_attachment_size: 5\nnope: 1\n', 'x:2: nope is not a setting: see gitstead settings list'],
    ['__proto__: 1', 'x:1: __proto__ is not a setting: see gitstead settings list'],
    ['? [a]\n: 1', /^x:1: .* is not a setting/],
    ['a: 1\n\nsignup_enabled: yes\n', 'x:1: a is not a setting: see gitstead settings list'],
    ['\n\nsignup_enabled: yes\n', 'x:3: signup_enabled is invalid: it must be true or false (it is "yes")'],
    [
      'max_attachment_size: "5"',
      'x:1: max_attachment_size is invalid: it must be a whole number from 1 to 1048576 (it is "5")'
    ],
    [
      'max_attachment_size: 5.5',
      'x:1: max_attachment_size is invalid: it must be a whole number from 1 to 1048576 (it is 5.5)'
    ],
    [
      'max_attachment_size:',
      'x:1: max_attachment_size is invalid: it must be a whole number from 1 to 1048576 (it is null)'
    ],
    ['domain_blacklist: a', 'x:1: domain_blacklist is invalid: it must be a list of texts (it is "a")'],
    ['sign_in_text: {a: b}', 'x:1: sign_in_text is invalid: it must be a text, or null (it is {"a":"b"})'],
    ['max_attachment_size: 5\nmax_attachment_size: 6', 'x:2: Map keys must be unique'],
    ['max_attachment_size: 5\n---\nsignup_enabled: false', /^x:2: /],
    ['max_attachment_size: [', /^x:1: /],
    ['sign_in_text: *nobody', /^x:1: /],
    ['- max_attachment_size: 5', 'x: settings are expected, as NAME: VALUE'],
    ['max_attachment_size', 'x: settings are expected, as NAME: VALUE'],
    ['', 'x: settings are expected, as NAME: VALUE'],
    ['{}', 'x: settings are expected, as NAME: VALUE']
  ]
  for (const [text, message] of refuses) {
    t.throws(() => settingsOfYaml(text, 'x'), { name: 'BadParameters', message }, JSON.stringify(text))
  }
  const bomb = ['a: &a [x, x, x, x, x, x, x, x]']
  for (const [one, two] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh']) {
    bomb.push(`domain_${two}: &${two} [*${one}, *${one}, *${one}, *${one}, *${one}, *${one}, *${one}, *${one}]`)
  }
  t.throws(() => settingsOfYaml(bomb.join('\n'), 'x'), { name: 'BadParameters' })
})

t.test('two defaults come from the configuration', async t => {
  t.teardown(() => loadConfig({ home: t.testdirName }))
  for (const [expire, minutes] of [
    [3600, 60],
    [60, 1],
    [100, 2]
  ] as const) {
    loadConfig({ home: t.testdirName, session: { expire }, repositories: { storages: ['one', 'two'] } })
    t.match(defaultSettings(), { session_expire_delay: minutes, repository_storages: ['one', 'two'] })
  }
})

t.test('docs/reference/settings.md has the table, line by line', async t => {
  const page = readFileSync(join(root, 'docs/reference/settings.md'), 'utf8')
  const found = page.split('\n').filter(line => /^\| `[a-z_]+` \|/.test(line))
  const defaults = defaultSettings()
  const expected = SETTING_NAMES.map(name => {
    const { meaning, enforced } = settingOf(name)
    return `| \`${name}\` | ${typeOf(name)} | \`${JSON.stringify(defaults[name])}\` | ${meaning} | ${enforced ?? 'stored and shown only'} |`
  })
  t.same(found, expected)
})
