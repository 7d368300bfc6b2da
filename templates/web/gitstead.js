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

// A form that was sent cannot be sent a second time by an impatient click.
addEventListener('submit', event => {
  const form = event.target
  if (form.method !== 'post') return
  if (form.dataset.sent) event.preventDefault()
  form.dataset.sent = 'yes'
  setTimeout(() => delete form.dataset.sent, 5000)
})

// What is written in a large field stays in this tab until it is sent.
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
    else place.textContent = 'There is no preview now. Try again later.'
  })
}

// A link to a note of a long discussion leads to the page that has it.
const note = /^#note_(\d+)$/.exec(location.hash)?.[1]
const [stream] = all('[data-notes]')
if (note && stream && !stream.querySelector(`:not(a)#note_${note}`)) location.replace(`${stream.dataset.notes}/${note}`)
