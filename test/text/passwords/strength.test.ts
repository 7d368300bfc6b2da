import { strengthOf } from '../../../src/text/passwords/strength.js'
import t from '../../helpers/tap.js'

const ADA = ['ada', 'lovelace', 'ada lovelace', 'ada@example.org', 'example', 'gitstead']
const scoreOf = async (password: string) => (await strengthOf(password, ADA)).score

t.test('common and personal words are easy to guess, others are not', async t => {
  for (const easy of ['password', '12345678', 'qwertyuiop', 'P@$$w0rd', 'Lovelace!1', 'gitstead2026']) {
    t.ok((await scoreOf(easy)) < 3, easy)
  }
  for (const hard of ['correct horse battery', 'xK9#mQ2pV', 'Tr0ub4dour&3']) t.ok((await scoreOf(hard)) >= 3, hard)
  t.equal(await scoreOf('lovelace'), 0)
  t.ok((await strengthOf('Lovelace-gentian', [])).score > (await strengthOf('Lovelace-gentian', ['gentian'])).score)
  t.same((await strengthOf('password', [])).warning, 'This is a heavily used password.')
  t.equal((await strengthOf('xK9#mQ2pV', [])).warning, null)
})

t.test('the length of a password is bounded, and so are the words', async t => {
  const long = 'p@$$w0rd1l0v3y0u4@8({[<369!1|0$5+7%2'.repeat(30)
  t.match(await strengthOf(long, [long]), { score: Number })
  t.equal(await scoreOf(`password${' '.repeat(2000)}`), await scoreOf(`password${' '.repeat(92)}`))
  t.match(await Promise.all(Array.from({ length: 50 }, () => scoreOf('password'))), Array(50).fill(0))
})

t.test('hostile text is only text', async t => {
  for (const text of [
    '',
    '\0\0\0\0\0\0\0\0',
    '__proto__',
    'constructor',
    '(((((((((((',
    '🦊'.repeat(60),
    '\ud800'.repeat(20)
  ]) {
    t.match(await strengthOf(text, ['__proto__', 'constructor', '']), { score: Number }, JSON.stringify(text))
  }
})
