<?php

namespace App\Models;

use Illuminate\Database\Eloquent\Model;

class Order extends Model
{
    protected $fillable = ['slab', 'quantity', 'price_cents', 'cancelled_at'];

    public function isShipped(): bool
    {
        return $this->shipped_at !== null;
    }
}
