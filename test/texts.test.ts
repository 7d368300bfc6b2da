// A lint over everything that people read: phrases that are hard to understand, with what to write in their place.

import t from './helpers/tap.js'
import { readText, textsBelow } from './helpers/texts.js'

const READ = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'package.json',
  ...['bench', 'bin', 'config', 'docs', 'scripts', 'src', 'templates', 'test']
]

/** A space in a phrase also matches a line break, with the comment sign of the next line. */
const PHRASES: readonly (readonly [phrase: RegExp, instead: string])[] = [
  [/\b(is|are|was|were|be|been) told\b/, 'name what happens: "gets", "receives", "sees", "the log says"'],
  [/\btells? of\b/, '"reports", "announces"'],
  [/\btells? (that|why|when|what|where|whether|which|how)\b/, '"says", "shows", "reports": only people are told'],
  [/\b(go|goes|going|gone|went) with\b/, '"is deleted with", "belongs to", "comes with"'],
  [/(?<!\b(?:leave|let|stand)(?:\s(?:it|them))?[\s-])\balone\b/, '"only", or "on its own"'],
  [/\bwho(so)?ever\b/, '"anyone who", "the user who"'],
  [/\bof elsewhere\b/, '"of another project", "from outside"'],
  [/(?<!\bthere )\b(is|are) none\b/, 'say what it is or does: "does not count", "is not a ..."'],
  [/\b(the same|one) road\b/, '"like a push", "the same code"'],
  [/\bcom(e|es|ing) to (its|their|an) end\b/, '"ends", "finishes"'],
  [/\b(by|for|from|of|than|to|with) who\b/, '"the person who", "people who"'],
  [
    /(?:^|[.:;] |\/\/ |\* )who (is|are|has|have|may|can|gets|does|knows|wants|reads|pushes|writes)\b(?![^.]*\?)/,
    '"people who", "anyone who"'
  ],
  [/\bcome by\b/, '"found", "computed"'],
  [/\bwish(es)? that\b/, '"asks for", "proposes"'],
  [/\bwhat waits\b/, 'name it: "pending jobs"'],
  [/\bat the most\b/, '"at most"'],
  [/\bfor ever\b/, '"forever", "permanently"'],
  [/\b(go|goes|going|went) on\b/, '"continues", "still works"'],
  [/\b(leave|leaves|leaving|left) (it |them )?away\b/, '"omits", "leaves out"'],
  [/\bin vain\b/, '"without success", "finds nothing"'],
  [/\bbut for\b/, '"except"'],
  [/\bhears? (of|nothing|only)\b/, '"gets mail about", "learns"'],
  [/\banew\b/, '"again"'],
  [/\b(?<!\bthe )lies? (in|at|below|beside|on|there)\b/, '"is in", "is at"'],
  [/\bbeside\b/, '"next to", "in addition to", "besides"'],
  [/\bby the clock\b/, '"on a schedule"'],
  [/\bmeanwhile\b/, '"in the meantime", or name the event'],
  [/\b(the|an) askers?\b/, '"the caller"'],
  [/\b(user|those|people|person) who asks?\b/, '"the caller"'],
  [/\bthe (newest|oldest) first\b/, '"newest first"'],
  [/\bwhat becomes of\b/, '"what happens to", "the result of"'],
  [/\bcounts no more\b/, '"ends", "no longer counts"'],
  [/\bworth asking\b/, '"may retry"'],
  [/\b(is|are) another one\b/, '"changed"'],
  [/description: ['"`]Answers\b/, '"Returns": a description starts with what the client gets']
]

const patterns = PHRASES.map(([phrase, instead]) => ({
  phrase,
  instead,
  // Lines of a comment begin with //, * or #.
  found: new RegExp(phrase.source.replaceAll(' ', '\\s+(?:(?://+|\\*|#+)\\s+)?'), 'gim')
}))

function faultsIn(name: string, text: string): string[] {
  return patterns.flatMap(({ found, instead }) =>
    [...text.matchAll(found)].map(({ 0: words, index }) => {
      const line = text.slice(0, index).split('\n').length
      return `${name}:${line}: "${words.replace(/\s+/g, ' ').trim()}": write ${instead}`
    })
  )
}

t.test('texts do without phrases that are hard to understand', async t => {
  const files = READ.flatMap(textsBelow).filter(file => file !== 'test/texts.test.ts')
  t.same(
    files.flatMap(file => faultsIn(file, readText(file))),
    []
  )
})

t.test('every phrase is found, in a line, over two lines and in a comment', async t => {
  const told = 'the user is told'
  for (const text of [
    told,
    told.replace('is told', 'is\ntold'),
    '// the user is\n// told',
    '/**\n * It is\n * told\n */'
  ]) {
    t.equal(faultsIn('x', text).length, 1, text)
  }
  t.match(faultsIn('x', 'one\ntwo alone')[0], /^x:2: "alone": write/)
  t.same(faultsIn('x', 'leave it alone and let alone'), [])
  t.same(faultsIn('x', 'Who may read this? Anyone who signs in.'), [])
})
