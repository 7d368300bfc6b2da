// Tests the completions and the man page, which are generated from the static data of the commands.
import { execFileSync } from 'node:child_process'
import { QUEUES } from '../../src/queue/jobs.js'
import { cli } from '../helpers/cli.js'
import { callsIn, commands, misunderstood } from '../helpers/command-line.js'
import t from '../helpers/tap.js'
import { pages, readText } from '../helpers/texts.js'

const printed = async (args: string[]) => {
  const { code, stdout, stderr } = await cli(args)
  if (code !== 0) throw new Error(stderr)
  return stdout
}

t.test('bash completes every word, flag and value of every command', async t => {
  const script = await printed(['completion', 'bash'])
  const folder = t.testdir({ script })
  /** Returns what bash proposes for the last word of each line. */
  const complete = (lines: readonly (readonly string[])[]): string[][] => {
    const asks = lines.map(
      words =>
        `COMP_WORDS=(gitstead ${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length}
        _gitstead; echo "\${COMPREPLY[*]}"`
    )
    // compopt works only during a completion by readline, so we replace it.
    const program = ['source ./script', 'compopt() { :; }', 'complete -p gitstead', ...asks].join('\n')
    const [registered, ...answers] = execFileSync('bash', ['--norc', '-u'], {
      cwd: folder,
      input: program,
      encoding: 'utf8'
    }).split('\n')
    t.equal(registered, 'complete -F _gitstead gitstead')
    return answers.slice(0, lines.length).map(answer => answer.split(' ').filter(Boolean))
  }

  t.test('words', async t => {
    const prefixes = [...new Set(commands.flatMap(({ words }) => words.map((_, at) => words.slice(0, at).join(' '))))]
    const answers = complete(prefixes.map(prefix => [...prefix.split(' ').filter(Boolean), '']))
    for (const [at, prefix] of prefixes.entries()) {
      const depth = prefix === '' ? 0 : prefix.split(' ').length
      const wanted = commands.flatMap(({ words }) =>
        words.length > depth && words.slice(0, depth).join(' ') === prefix ? [words[depth]] : []
      )
      const help = prefix === '' ? ['help'] : []
      t.same([...(answers[at] ?? [])].sort(), [...new Set([...wanted, ...help])].sort(), prefix)
    }
  })

  t.test('flags', async t => {
    const answers = complete(commands.map(({ words }) => [...words, '--']))
    for (const [at, { words, flags }] of commands.entries()) {
      for (const [name, { hidden }] of Object.entries(flags)) {
        t.equal(answers[at]?.includes(`--${name}`), !hidden, `${words.join(' ')} --${name}`)
      }
      t.ok(answers[at]?.includes('--help'))
    }
  })

  t.test('values of flags', async t => {
    const cases = commands.flatMap(({ words, flags }) =>
      Object.entries(flags).flatMap(([name, { options }]) => (options ? [{ words, name, options: [...options] }] : []))
    )
    t.ok(cases.length > 0)
    const apart = complete(cases.map(({ words, name }) => [...words, `--${name}`, '']))
    // bash splits --flag=value into three words.
    const joined = complete(cases.map(({ words, name }) => [...words, `--${name}`, '=']))
    for (const [at, { words, name, options }] of cases.entries()) {
      t.same(apart[at], options, `${words.join(' ')} --${name}`)
      t.same(joined[at], options, `${words.join(' ')} --${name}=`)
    }
  })

  t.test('arguments, also when they are partly typed', async t => {
    const cases: [string[], string[]][] = [
      [['u'], ['up', 'users']],
      [
        ['templates', 'show', ''],
        ['licenses', 'gitignores', 'dockerfiles', 'gitstead_ci_ymls']
      ],
      [['templates', 'show', '--fullname', 'licenses', '--project', '=', 'x', 'giti'], ['gitignores']],
      [['templates', 'show', 'licenses', ''], []],
      [
        ['help', 'templates', ''],
        ['list', 'show']
      ],
      [
        ['jobs', 'list', '--state', 'dead', '--state', 'd'],
        ['delayed', 'dead']
      ],
      [['users', 'no-such-word', 'cre'], []]
    ]
    const answers = complete(cases.map(([words]) => words))
    for (const [at, [words, expected]] of cases.entries()) t.same(answers[at], expected, words.join(' '))
  })
})

t.test('the scripts of zsh and fish know every command, flag and value', async t => {
  const zsh = await printed(['completion', 'zsh'])
  const fish = await printed(['completion', 'fish'])
  t.match(zsh, /^#compdef gitstead\n/)
  for (const { words, flags, args } of commands) {
    const body = new RegExp(`^_gitstead_${words.join('_')}\\(\\) \\{\n([^]*?)^\\}`, 'm').exec(zsh)?.[1] ?? ''
    const below = fish.split('\n').filter(line => line.includes(`'__gitstead_below ${words.join(' ')}'`))
    for (const [name, { type, hidden, options = [] }] of Object.entries(flags)) {
      if (hidden) continue
      t.ok(body.includes(`'--${name}${type === 'option' ? '=' : ''}[`), `zsh: ${words.join(' ')} --${name}`)
      const line = below.find(text => text.includes(` -l ${name} `))
      t.ok(line, `fish: ${words.join(' ')} --${name}`)
      t.equal(/ -r /.test(line ?? ''), type === 'option', `fish: ${words.join(' ')} --${name}`)
      t.ok(body.includes(options.join(' ')) && line?.includes(options.join(' ')))
    }
    for (const { options } of Object.values(args)) {
      if (options) t.ok(body.includes(`(${options.join(' ')})`) && below.some(line => line.includes(options.join(' '))))
    }
    for (const at of words.keys()) {
      const before = ['__gitstead_exactly', ...words.slice(0, at)].join(' ')
      t.match(fish, `complete -c gitstead -n '${before}' -f -a '${words[at]}' -d '`)
    }
  }
})

t.test('completion accepts only known shells', async t => {
  for (const args of [['completion'], ['completion', 'tcsh']]) t.equal((await cli(args)).code, 2)
  t.match((await cli(['completion', 'bash', '--json'])).json(), { shell: 'bash', script: /^# bash completion/ })
})

t.test('the man page has every command with its flags and examples', async t => {
  const page = await printed(['man'])
  t.match(page, /^\.TH GITSTEAD 1 /)
  for (const title of ['NAME', 'SYNOPSIS', 'DESCRIPTION', 'COMMANDS', 'EXIT STATUS', 'FILES', 'ENVIRONMENT']) {
    t.match(page, `\n.SH ${title}\n`)
  }
  const sections = new Map(
    page.split(/^\.SS /m).map(part => [part.split('\n', 1)[0]?.replaceAll('\\-', '-'), part.replaceAll('\\-', '-')])
  )
  for (const { words, flags } of commands) {
    const text = sections.get(`gitstead ${words.join(' ')}`) ?? ''
    t.match(text, /Examples?:\n\.PP\n\.RS 4\n\.nf\n.*gitstead /, words.join(' '))
    for (const name of Object.keys(flags)) {
      if (!flags[name]?.hidden) t.ok(page.includes(`--${name}`.replaceAll('-', '\\-')), name)
    }
  }
  t.notMatch(page, '<%=')
  t.notMatch(page, /\P{ASCII}/u)
  // No text of a command may look like a request of roff.
  const requests = new Set(page.split('\n').flatMap(line => /^[.'](\S*)/.exec(line)?.[1] ?? []))
  t.same([...requests].sort(), ['PP', 'RE', 'RS', 'SH', 'SS', 'TH', 'TP', 'br', 'fi', 'nf'])
})

t.test('every command says what it does, what its flags mean, and how it is used', async t => {
  t.ok(commands.length > 40)
  for (const { words, summary, examples, flags, args } of commands) {
    const name = words.join(' ')
    t.match(summary, /^[A-Z].*[^.]$/, name)
    t.ok(examples.length >= 2, `${name} has examples`)
    for (const [flag, entry] of Object.entries(flags)) t.ok(entry.summary ?? entry.description, `${name} --${flag}`)
    for (const [arg, { description }] of Object.entries(args)) t.ok(description, `${name} ${arg}`)
    for (const example of examples) {
      const [call = '', ...more] = callsIn(example.replaceAll('<%= config.bin %>', 'gitstead'))
      t.ok(call.startsWith(name), example)
      for (const one of [call, ...more]) t.equal(misunderstood(one), undefined, example)
    }
  }
})

t.test('every command line in the documentation is valid', async t => {
  let found = 0
  for (const page of pages) {
    const blocks = [...readText(page).matchAll(/^```\w*\n([\s\S]*?)^```/gm)]
    const lines = blocks.flatMap(([, text = '']) => text.replace(/\\\n/g, ' ').split('\n'))
    for (const call of lines.flatMap(callsIn)) {
      found++
      t.equal(misunderstood(call), undefined, page)
    }
  }
  t.ok(found > 20)
})

/** The commands that a table row of docs/reference/commands.md names. */
const commandsIn = (cell: string) =>
  [...cell.matchAll(/`([a-z- ]+?)(?: --[a-z]+)?(?: [A-Z]+)?`/g)].map(([, name]) => name)

t.test('docs/reference/commands.md lists every command', async t => {
  const section = readText('docs/reference/commands.md').split('\n## ')[1] ?? ''
  const rows = [...section.matchAll(/^\| (.+?) \| (`.+?) \|/gm)]
  const listed = rows.flatMap(([, topic = '', verbs = '']) => {
    const [words] = commandsIn(topic)
    return commandsIn(verbs).map(verb => (words === undefined ? verb : `${words} ${verb}`))
  })
  t.same(listed.sort(), commands.map(({ words }) => words.join(' ')).sort())
})

t.test('docs/reference/commands.md lists the commands that ask before they destroy something', async t => {
  const rows = [...readText('docs/reference/commands.md').matchAll(/^\| (`.+) \| yes \| .+ \|$/gm)]
  t.same(
    rows.flatMap(([, cell = '']) => commandsIn(cell)).sort(),
    commands
      .filter(({ flags }) => flags.yes)
      .map(({ words }) => words.join(' '))
      .sort()
  )
})

t.test('the help names every queue', async t => {
  for (const words of [
    ['jobs', 'pause'],
    ['jobs', 'resume'],
    ['jobs', 'list']
  ]) {
    const text = await printed([...words, '--help'])
    for (const queue of QUEUES) t.match(text, new RegExp(`\\b${queue}\\b`), `${words.join(' ')}: ${queue}`)
  }
})
