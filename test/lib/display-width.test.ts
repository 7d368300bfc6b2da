import stringWidth from 'string-width'
import { breakLines, cutTo, fitTo, plainText } from '../../src/lib/display-width.js'
import t from '../helpers/tap.js'

t.test('the package counts the columns as the drawings expect', async t => {
  const cases: [string, number][] = [
    ['', 0],
    ['plain', 5],
    ['büro', 4],
    ['e\u0301', 1],
    ['漢字', 4],
    ['한글', 4],
    ['ｆｕｌｌ', 8],
    ['🎉', 2],
    ['🇩🇪', 2],
    ['▁█▸…', 4]
  ]
  for (const [text, width] of cases) t.equal(stringWidth(text), width, text)
})

t.test('a character that could move the cursor becomes a question mark', async t => {
  t.equal(plainText('a\u001b[2Jb\r\n\tc'), 'a?[2Jb???c')
  t.equal(plainText('\u009b31m\u202eevil\u2028\u200b\ufeff'), '?31m?evil???')
  t.equal(plainText('\ud800'), '?')
})

t.test('characters that change the look of the one before them are removed', async t => {
  t.equal(plainText('❤️'), '❤')
  t.equal(plainText('👍🏽'), '👍')
  t.equal(plainText('1\ufe0f\u20e3'), '1')
  t.equal(plainText('\u1112\u1161\u11ab'), '한')
})

t.test('a text is cut by its width and shows that it was cut', async t => {
  t.equal(cutTo('short', 5), 'short')
  t.equal(cutTo('longer', 5), 'long…')
  t.equal(cutTo('漢字漢字', 6), '漢字…', 'half a wide character is not shown')
  t.equal(cutTo('漢字漢字', 5), '漢字…')
  t.equal(cutTo('x', 0), '')
})

t.test('a text is cut between two words', async t => {
  t.equal(cutTo('the job did not end in time', 18), 'the job did not…')
  t.equal(cutTo('the job did not end', 16), 'the job did not…')
  t.equal(cutTo('{"id":"k1","event":{}}', 16), '{"id":"k1","…')
  t.equal(cutTo('Error: getaddrinfo', 12), 'Error:…')
  t.equal(cutTo('a/very-long-path', 12), 'a/very-long…')
  t.equal(cutTo('x incomprehensibly-long', 20), 'x incomprehensibly-…', 'little would be left before the space')
})

t.test('a text takes exactly the given number of columns', async t => {
  t.equal(fitTo('ab', 4), 'ab  ')
  t.equal(fitTo('ab', 4, true), '  ab')
  t.equal(fitTo('漢字漢', 4), '漢… ')
})

t.test('lines break at spaces, longer words anywhere, and nothing is lost', async t => {
  t.same(breakLines('abcdef', 4), ['abcd', 'ef'])
  t.same(breakLines('a漢字b', 4), ['a漢', '字b'])
  t.same(breakLines('', 4), [''])
  t.same(breakLines('one two three', 7), ['one two', 'three'])
  t.same(breakLines('one two three', 8), ['one two', 'three'])
  t.same(breakLines('    indented', 8), ['    inde', 'nted'])
  t.same(breakLines('漢', 1), ['漢'])
})
