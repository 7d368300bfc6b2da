// The script of the pages. Everything works without it: it saves clicks, and keeps texts that are not sent yet.

/** @template {Element} Kind @param {string} selector @returns {Kind[]} */
const all = selector => [...document.querySelectorAll(selector)]

for (const button of all('[data-copy]')) {
  button.hidden = false
  button.addEventListener('click', async () => {
    const field = button.parentElement.querySelector('input')
    field.select()
    await navigator.clipboard?.writeText(field.value)
    button.textContent = 'Copied'
  })
}

// Browsers leave out the focus when the address names a part of the page, and remove it when they have scrolled there.
addEventListener('load', () =>
  setTimeout(() => {
    if (document.activeElement === document.body) document.querySelector('[autofocus]')?.focus()
  }, 100)
)

// A form that was sent cannot be sent a second time by an impatient click.
addEventListener('submit', event => {
  const form = event.target
  if (form.method !== 'post') return
  if (form.dataset.sent) event.preventDefault()
  form.dataset.sent = 'yes'
  setTimeout(() => delete form.dataset.sent, 5000)
})

// A form for a passkey carries a challenge, which the passkey answers when the form is sent.
for (const form of all('form[data-passkey]')) {
  if (!globalThis.PublicKeyCredential?.parseCreationOptionsFromJSON) continue
  const { create, get } = JSON.parse(form.dataset.passkey)
  const field = form.elements.passkey
  form.hidden = false
  form.addEventListener('submit', async event => {
    if (field.value !== '') return
    event.preventDefault()
    try {
      const answer = create
        ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(create) })
        : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(get) })
      field.value = JSON.stringify(answer)
    } catch {
      const note = form.querySelector('[role=alert]') ?? form.appendChild(document.createElement('p'))
      note.setAttribute('role', 'alert')
      note.textContent = 'The passkey was not used. Try again.'
    }
    delete form.dataset.sent
    if (field.value !== '') form.requestSubmit()
  })
}

// What is written in a large field stays in this tab until it is sent. Somebody else who signs in must not see it.
const { visitor } = document.body.dataset
if (visitor && sessionStorage.getItem('visitor') !== visitor) {
  sessionStorage.clear()
  sessionStorage.setItem('visitor', visitor)
}
for (const form of all('[action="/users/sign_out"]')) form.addEventListener('submit', () => sessionStorage.clear())
for (const field of all('textarea[data-keep]')) {
  const key = `${location.pathname} ${field.dataset.keep}`
  const kept = sessionStorage.getItem(key)
  if (kept !== null && field.value === '') field.value = kept
  field.addEventListener('input', () => sessionStorage.setItem(key, field.value))
  field.form?.addEventListener('submit', () => sessionStorage.removeItem(key))
}

// The preview of a text stands above its button.
for (const button of all('[data-preview]')) {
  const place = document.createElement('div')
  place.setAttribute('aria-live', 'polite')
  button.before(place)
  button.addEventListener('click', async event => {
    event.preventDefault()
    const body = new URLSearchParams(new FormData(button.form, button))
    const answer = await fetch(`${button.getAttribute('formaction')}&part=1`, { method: 'POST', body }).catch(
      () => undefined
    )
    if (answer?.ok) place.innerHTML = await answer.text()
    else if (answer?.status === 401) {
      place.textContent = 'Your session has ended. Send the form: you can sign in then, and your text is kept.'
    } else place.textContent = 'There is no preview now. Try again later.'
  })
}

// #L10-20 marks lines. A click on a number with Shift marks all lines from the one that is marked.
const lines = () => /^#L(\d+)(?:-L?(\d+))?$/.exec(location.hash)?.slice(1).map(Number) ?? []
const markLines = () => {
  for (const row of all('.marked')) row.classList.remove('marked')
  const [from, to] = lines()
  if (!to) return
  const first = Math.min(from, to)
  for (let at = first; at <= Math.max(from, to) && at < first + 20000; at++) {
    document.getElementById(`L${at}`)?.classList.add('marked')
  }
  document.getElementById(`L${first}`)?.scrollIntoView({ block: 'center' })
}
addEventListener('hashchange', markLines)
markLines()
addEventListener('click', async event => {
  const link = event.target.closest('a')
  const [from] = lines()
  const number = /^#L(\d+)$/.exec(link?.getAttribute('href') ?? '')?.[1]
  if (number && from && event.shiftKey) {
    event.preventDefault()
    location.hash = `L${Math.min(from, number)}-${Math.max(from, number)}`
  }
  // The lines stay marked.
  if (link && 'permalink' in link.dataset) link.hash = location.hash
  const { load } = link?.dataset ?? {}
  if (!load || event.ctrlKey || event.metaKey || event.shiftKey) return
  // The changes of a large file take the place of the link to them.
  event.preventDefault()
  const answer = await fetch(link.href).catch(() => null)
  const html = answer?.ok ? await answer.text() : ''
  const part = new DOMParser().parseFromString(html, 'text/html').getElementById(load)
  if (part) document.getElementById(load).replaceWith(part)
  else location.assign(link.href)
})

// A link to a note of a long discussion leads to the page that has it.
const note = /^#note_(\d+)$/.exec(location.hash)?.[1]
const [stream] = all('[data-notes]')
if (note && stream && !stream.querySelector(`:not(a)#note_${note}`)) location.replace(`${stream.dataset.notes}/${note}`)
const pause = ms => new Promise(done => setTimeout(done, ms))

// Follows the output of a build that has not ended.
for (const trace of all('[data-follow]')) {
  const tail = trace.nextElementSibling
  const { follow, status } = trace.dataset
  /** The innermost section that is open. */
  const last = () => [...trace.querySelectorAll('[data-open]')].at(-1)
  const add = ({ pieces, tail: rest }) => {
    const follows = innerHeight + scrollY >= document.documentElement.scrollHeight - 60
    pieces.forEach((piece, at) => {
      if (at > 0) last()?.removeAttribute('data-open')
      ;(last() ?? trace).insertAdjacentHTML('beforeend', piece)
    })
    tail.innerHTML = rest && `<div>${rest}</div>`
    while (trace.childElementCount > 8000) trace.firstElementChild.remove()
    if (follows) scrollTo(0, document.documentElement.scrollHeight)
  }
  const read = async () => {
    for (let wait = 1000; ; ) {
      await pause(wait)
      if (document.hidden) continue
      const { attempt, offset, place } = trace.dataset
      const answer = await fetch(`${follow}?${new URLSearchParams({ attempt, offset, place })}`).catch(() => null)
      if (answer?.status === 404) return
      const { part, ...now } = answer?.ok ? await answer.json() : {}
      if (part) add(part)
      if (part?.over || (!part && now.status && (now.status !== status || now.attempt !== Number(attempt)))) {
        return location.reload()
      }
      const isNew = part && part.offset !== Number(offset)
      wait = isNew ? 1000 : Math.min(wait * 1.3, 10000)
      if (part) Object.assign(trace.dataset, { offset: part.offset, place: part.place })
    }
  }
  read()
}

// Shows a part of the page as it is now, until nothing in it changes any more.
const renew = async () => {
  for (;;) {
    await pause(4000)
    const old = document.querySelector('[data-live]')
    if (!old) return
    // What somebody reads or fills in stays.
    const isUsed = field => field.value !== field.defaultValue || field.checked !== field.defaultChecked
    if (document.hidden || old.contains(document.activeElement) || old.querySelector('details[open]')) continue
    if ([...old.querySelectorAll('input, textarea')].some(isUsed)) continue
    const answer = await fetch(location.href).catch(() => null)
    if (answer?.status === 404) return
    if (!answer?.ok) continue
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const next = page.getElementById(old.id)
    // Nobody merges commits that the page did not have.
    if (!next || next.dataset.of !== old.dataset.of) return
    old.replaceWith(next)
    // What depends on the part changes with it, such as the state of a merge request at the top of its page.
    for (const part of all(`[data-with="${old.id}"]`)) {
      const now = page.getElementById(part.id)
      if (now) part.replaceWith(now)
      else part.remove()
    }
  }
}
renew()

// Files that are chosen, pasted or dropped are attached to the text at the cursor.
for (const link of all('[data-attach]')) {
  const field = link.closest('form').elements[link.dataset.attach]
  const attach = async files => {
    for (const file of files) {
      const body = new FormData()
      body.append('file', file)
      const answer = await fetch(`${link.pathname}?part=1`, { method: 'POST', body }).catch(() => undefined)
      if (!answer?.ok) {
        link.textContent = 'The file was refused'
        return
      }
      field.setRangeText(`${await answer.text()}\n`, field.selectionStart, field.selectionEnd, 'end')
      field.dispatchEvent(new Event('input'))
    }
  }
  const chooser = document.createElement('input')
  chooser.type = 'file'
  chooser.addEventListener('change', () => attach(chooser.files))
  link.addEventListener('click', event => {
    event.preventDefault()
    chooser.click()
  })
  const take = (event, { files }) => {
    if (files.length === 0) return
    event.preventDefault()
    attach(files)
  }
  field.addEventListener('paste', event => take(event, event.clipboardData))
  field.addEventListener('drop', event => take(event, event.dataTransfer))
}

// A card of a board is dragged to another list, instead of choosing it.
for (const card of all('[data-card]')) {
  const form = card.querySelector('form')
  if (!form) continue
  card.draggable = true
  card.addEventListener('dragstart', event => event.dataTransfer.setData('text/plain', card.dataset.card))
}
for (const list of all('[data-list]')) {
  list.addEventListener('dragover', event => event.preventDefault())
  list.addEventListener('drop', event => {
    event.preventDefault()
    const dragged = event.dataTransfer.getData('text/plain')
    const form = all('[data-card]')
      .find(({ dataset }) => dataset.card === dragged)
      ?.querySelector('form')
    if (!form || form.elements.from.value === list.dataset.list) return
    form.elements.to.value = list.dataset.list
    form.requestSubmit()
  })
}
