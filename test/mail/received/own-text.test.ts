import { ownText } from '../../../src/mail/received/own-text.js'
import t from '../../helpers/tap.js'

const lines = (...all: string[]) => all.join('\n')

const CASES: readonly (readonly [name: string, mail: string, text: string])[] = [
  ['nothing to cut', 'Thanks!\r\n\r\nIt works.\r\n', 'Thanks!\n\nIt works.'],
  [
    'a quotation below',
    lines('Yes.', '', 'On Mon, 3 Aug 2026 at 10:00, Ada <a@b.c> wrote:', '> Really?', '> 2', ''),
    'Yes.'
  ],
  [
    'an attribution of three lines',
    lines('Yes.', '', 'On Mon, 3 Aug 2026 at 10:00, Ada Lovelace', '<ada@example.org>', 'wrote:', '', '> Really?'),
    'Yes.'
  ],
  ['a quotation above', lines('On 3 Aug 2026, Ada wrote:', '> Really?', '', 'Yes.', '', 'And no.'), 'Yes.\n\nAnd no.'],
  [
    'a quotation in between stays',
    lines('On 3 Aug 2026, Ada wrote:', '> One?', 'Yes.', '> Two?', 'No.', '> Three?'),
    'Yes.\n> Two?\nNo.'
  ],
  ['quotations in other languages', lines('Ja.', '', 'Am 03.08.2026 um 10:00 schrieb Ada:', '> Wirklich?'), 'Ja.'],
  ['an unknown language', lines('Kyllä.', '', 'Ada <a@b.c> kirjoitti 3.8.2026 klo 10:', '> Todella?'), 'Kyllä.'],
  ['a quotation without marks', lines('Yes.', 'On 3 Aug 2026, Ada wrote:', '', 'Really?', 'Still?'), 'Yes.'],
  ['the original of Outlook', lines('Yes.', '', '-----Original Message-----', 'From: Ada', 'Really?'), 'Yes.'],
  [
    'the headers of Outlook',
    lines('Yes.', '', 'From: Ada <a@b.c>', 'Sent: Monday, 3 August 2026', 'To: Bob', 'Subject: x', '', 'Really?'),
    'Yes.'
  ],
  [
    'the line of Outlook',
    lines('Ja.', '', '________________________________', 'Von: Ada', 'Gesendet: Montag', '', 'x'),
    'Ja.'
  ],
  ['bold headers', lines('Oui.', '', '*De :* Ada', '*Envoyé :* lundi', '*À :* Bob', 'x'), 'Oui.'],
  ['a signature', lines('Yes.', '', '-- ', 'Bob', 'Example Ltd.'), 'Yes.'],
  ['a signature without the space', lines('Yes.', '--', 'Bob'), 'Yes.'],
  ['a signature above the quotation', lines('Yes.', '-- ', 'Bob', '', 'On 3 Aug 2026, Ada wrote:', '> x'), 'Yes.'],
  ['a footer of a phone', lines('Yes.', '', 'Sent from my iPhone', '', '> On 3 Aug 2026, Ada wrote:', '> x'), 'Yes.'],
  [
    'a line like a footer',
    lines('Sent from my old account,', 'so ignore it.'),
    'Sent from my old account,\nso ignore it.'
  ],
  ['a heading of the writer', lines('--- Results ---', '', '12 ms'), '--- Results ---\n\n12 ms'],
  ['a rule of the writer', lines('One', '', '----------', '', 'Two'), 'One\n\n----------\n\nTwo'],
  [
    'code',
    lines('Run', '```', '-- ', '> 1', 'From: a', 'To: b', 'Date: c', '```'),
    lines('Run', '```', '-- ', '> 1', 'From: a', 'To: b', 'Date: c', '```')
  ],
  ['an indented first line', '    make\n', '    make'],
  ['a sentence with a colon', lines('There are 2 ways:', '', 'one'), lines('There are 2 ways:', '', 'one')],
  ['only a quotation', lines('On 3 Aug 2026, Ada wrote:', '> x'), ''],
  ['only a signature', lines('', '-- ', 'Bob'), ''],
  ['a command', lines('/close', '', 'On 3 Aug 2026, Ada wrote:', '> /reopen'), '/close'],
  ['a null character', 'a\u0000b', 'ab']
]

t.test('the text of a reply', async t => {
  for (const [name, mail, text] of CASES) t.equal(ownText(mail), text, name)
})

t.test('long lines and many lines are read in a bounded number of steps', async t => {
  const space = ' '.repeat(200_000)
  for (const text of [
    `--${space}x`,
    `On 1${space}:${space}x`,
    `${':'.repeat(200_000)}x`,
    `From:${space}`,
    `On ${'wrote '.repeat(50_000)}`
  ])
    t.ok(ownText(text) === text.trimEnd(), text.slice(0, 20))
  const many = 'On 1 a wrote\n'.repeat(70_000)
  t.ok(ownText(many) === many.trimEnd())
})
