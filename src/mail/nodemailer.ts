import { createRequire } from 'node:module'

/** The library, loaded with the first mail: it takes 60 ms of processor time and 14 MB. */
export const nodemailer = () => createRequire(import.meta.url)('nodemailer') as typeof import('nodemailer')
