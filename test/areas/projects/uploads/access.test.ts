import { testAccess } from '../../../access/matrix.js'
import { access as uploads } from './uploads.access.js'

testAccess([uploads])
